"""A warning for a CSV file with cells that a spreadsheet would run as formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.engines.base import FileTarget
from shoal.engines.duckdb.formulas import ESCAPE, is_formula
from shoal.engines.duckdb.source import TableSource
from shoal.engines.duckdb.writing import layout_of
from shoal.values import Caution

if TYPE_CHECKING:
    from shoal.engines.base import Source, Target


def formula_cautions(target: Target | None, written: Source) -> tuple[Caution, ...]:
    """The columns of a CSV file that has formulas in it, with the number of records."""
    if not isinstance(target, FileTarget) or not isinstance(written, TableSource):
        return ()
    if layout_of(target).kind != "csv" or target.formulas == ESCAPE:
        return ()
    found = written.count_where(is_formula)
    return tuple(_caution(name, number) for name, number in found.items())


def _caution(name: str, records: int) -> Caution:
    text = (
        f"{records:,} cells of {name!r} would be run as formulas by a spreadsheet; say"
        " `formulas: escape` in the output to make them text"
    )
    return Caution("formula-cells", name, text, records)
