"""The assignment file: in which class of a local release each tuple of the source is.

`shoal verify` needs it where persons are counted, since a release does not say to whom its records
belong. It is JSON with these keys:

- `shoal assignment`: the version of the format, 1.
- `quasi-identifiers`: their names, in order.
- `classes`: the labels of each released class, null for missing.
- `tuples`: for each distinct tuple of the source the index of its class, null where it is
  suppressed. Tuples are sorted by their texts, in the order of code points, missing last.

It has no value of the source but those that are released. The order of the tuples still shows
something of them to whoever knows some of the values: keep the file with the source.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.arrow_arrays import from_numpy, to_numpy
from shoal.encode.rows import number_rows
from shoal.errors import BadOutput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shoal.engines.base import Recoding

FORMAT, VERSION = "shoal assignment", 1


def assignment_text(plan: Recoding, suppressed: pa.Table) -> str:
    """The file for a plan and the tuples of values that it suppresses."""
    counted = plan.generalized.values()
    if plan.labels is None or any(each.values for each in counted):
        raise no_assignment("the tuples of the source were more than may be read one by one")
    if any(each.changes for each in counted):
        raise no_assignment("a missing value counts as the only label of a hierarchy of one level")
    names = list(plan.generalized)
    classes = _in_order(plan.labels.select(names).group_by(names).aggregate([]))
    released = _rows_in(plan.labels.select(names), classes)
    class_of = np.concatenate([released, np.full(suppressed.num_rows, -1, np.int64)])
    tuples = pa.concat_tables([plan.classes.select(names), suppressed.select(names)])
    positions = [f"column {i}" for i in range(len(names))]
    numbered = tuples.rename_columns(positions).append_column("class", from_numpy(class_of))
    content = {
        FORMAT: VERSION,
        "quasi-identifiers": names,
        "classes": [list(row.values()) for row in classes.to_pylist()],
        "tuples": [
            None if n < 0 else n for n in _in_order(numbered, positions)["class"].to_pylist()
        ],
    }
    return json.dumps(content, ensure_ascii=False) + "\n"


def no_assignment(why: str) -> BadOutput:
    """The refusal to write an assignment file."""
    return BadOutput(
        f"no assignment can be written: {why}",
        code="no-assignment",
        hint="leave out the assignment; for more tuples see `engine: {tuples: ...}`",
    )


def _in_order(rows: pa.Table, names: Sequence[str] = ()) -> pa.Table:
    """The rows sorted by the texts of these columns, by default of all."""
    keys = [(name, "ascending") for name in names or rows.column_names]
    return rows.take(pc.sort_indices(rows, sort_keys=keys))


def _rows_in(rows: pa.Table, distinct: pa.Table) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """For each row its position in the table of distinct rows."""
    columns, sizes = [], []
    for name in rows.column_names:
        known = pc.drop_null(pc.unique(distinct[name]))
        both = [pc.index_in(table[name], value_set=known) for table in (distinct, rows)]
        codes = [to_numpy(pc.fill_null(pc.cast(c, pa.int64()), len(known))) for c in both]
        columns.append(np.concatenate(codes))
        sizes.append(len(known) + 1)
    numbers, _ = number_rows(columns, sizes)
    position = np.zeros(distinct.num_rows, np.int64)
    position[numbers[: distinct.num_rows]] = np.arange(distinct.num_rows)
    return position[numbers[distinct.num_rows :]]
