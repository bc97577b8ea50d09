"""The page docs/seeds.md, written from the saved results."""

from __future__ import annotations

from pathlib import Path

from benchmarks.seeds.experiment import RESULTS
from benchmarks.seeds.statement import saved_values
from benchmarks.seeds.statements import ANON, MART, PRUNING, STATEMENTS, SUPERCLOUD

TEMPLATE = Path(__file__).parent / "page.md"
PAGE = Path(__file__).parents[2] / "docs" / "seeds.md"


def page_of(results: Path = RESULTS) -> str:
    """The template with a table for each paper."""
    text = TEMPLATE.read_text(encoding="utf-8")
    for paper in (ANON, SUPERCLOUD, MART, PRUNING):
        text = text.replace(f"[{paper}]", "\n".join(_table(paper, results)))
    return text


def _table(paper: str, results: Path) -> list[str]:
    lines = [
        "| The paper | Here | Follows from | Why they differ | Name |",
        "|---|---|---|---|---|",
    ]
    for statement in STATEMENTS:
        if statement.paper == paper:
            values = saved_values(statement.experiment, results)
            cells = (
                statement.says,
                statement.here(values),
                statement.follows_from,
                statement.reason(values),
                f"`{statement.name}`",
            )
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def write_page() -> None:
    """Write the page anew."""
    PAGE.write_text(page_of(), encoding="utf-8")
