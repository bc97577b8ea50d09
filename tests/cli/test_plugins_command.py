"""`shoal plugins` lists every part, the broken ones too."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from shoal.cli.app import app


def listed() -> dict[tuple[str, str], dict[str, Any]]:
    done = CliRunner().invoke(app, ["plugins", "--json"])
    assert done.exit_code == 0, done.output
    return {(row["name"], row["distribution"]): row for row in json.loads(done.output)}


def install(folder: Path, distribution: str, entry_points: str) -> None:
    """A distribution as pip leaves it, of metadata alone."""
    metadata = folder / f"{distribution}-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.2\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(entry_points, encoding="utf-8")


def test_our_parts_and_those_of_others_are_listed_with_their_distribution() -> None:
    rows = listed()
    ours = rows["k-anonymity", "shoal"]
    assert ours["kind"] == "privacy"
    assert ours["version"] == version("shoal")
    assert ours["summary"].startswith("Every record shares its quasi-identifiers")
    assert rows["steep", "shoal-example-plugin"]["kind"] == "loss"
    assert all(row["problem"] is None for row in rows.values())


def test_a_part_that_cannot_be_imported_is_listed_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "torn", "[shoal.loss]\ntorn = no_such_module:Torn\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    row = listed()["torn", "torn"]
    assert row["summary"] == ""
    assert "No module named 'no_such_module'" in row["problem"]
    assert row["version"] == "1.2"


def test_what_is_installed_while_python_runs_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    assert ("late", "late") not in listed()
    install(tmp_path, "late", "[shoal.loss]\nlate = shoal.loss.builtin:Precision\n")
    assert ("late", "late") in listed()


def test_a_name_that_two_distributions_bring_is_shown_as_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "copycat", "[shoal.loss]\niyengar = shoal.loss.builtin:Precision\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    rows = listed()
    for distribution in ("shoal", "copycat"):
        assert "2 distributions" in rows["iyengar", distribution]["problem"]


def test_people_see_the_parts_of_each_distribution_under_its_name() -> None:
    done = CliRunner().invoke(app, ["plugins"], env={"COLUMNS": "160"})
    assert done.exit_code == 0
    ours, _, others = done.output.partition("From shoal-example-plugin 0.1.0\n")
    assert ours.startswith(f"From shoal {version('shoal')}\n")
    assert "k-anonymity" in ours
    assert "simpson-diversity" not in ours
    assert "simpson-diversity" in others
