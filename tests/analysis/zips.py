"""A small table of zip codes, ages and sexes with its definition, about which questions are asked.

Names stand in the file as identifiers, so that a test sees that they are never shown.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from shoal.cli.app import app


def write_zips(
    folder: Path, *, records: int = 120, more: tuple[str, ...] = (), ages: str = "[5, 10, 20, 100]"
) -> Path:
    """Write the table, with more lines at its end, and the definition; the latter's path."""
    lines = ["zip,age,sex,name"]
    for i in range(records):
        lines.append(f"{100 + i * 7 % 40},{20 + i * 13 % 50},{'fm'[i % 2]},Ann {i}")
    (folder / "data.csv").write_text("\n".join([*lines, *more]), encoding="utf-8")
    path = folder / "it.yaml"
    path.write_text(
        "source: data.csv\noutput: out.csv\nk: 5\nsuppression: 10%\n"
        "attributes:\n  zip: {role: quasi-identifier, hierarchy: {mask: 3}}\n"
        f"  age: {{role: quasi-identifier, hierarchy: {{intervals: {ages}}}}}\n"
        "  sex: {role: quasi-identifier, hierarchy: suppress}\n  name: identifier\n",
        encoding="utf-8",
    )
    return path


def call(*words: object) -> Any:
    """What the command prints and how it ends."""
    return CliRunner().invoke(app, [str(word) for word in words])
