"""Hierarchies by content, as a transformation file keeps them.

A builder is kept as its rule, a tree as the definition has it. A hierarchy file is kept row by row:
its values are the domain of the column, and a domain does not say who is in the data. Where a file
lists no value beyond those of the data, it may have been made from the data. If such a file has a
value that fewer than k records have, its rows are not kept: the path and the checksum of the file
are, and the file is read again when the transformation is applied.

A rule is enough only if the label of a value depends on the value alone. `groups` is no such rule,
since its runs depend on all values. A mask is one but for the number of stars of short values,
which is kept beside it.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.definition.hierarchies.base import TOP, Kind
from shoal.definition.hierarchies.file import Csv
from shoal.definition.hierarchies.groups import Groups
from shoal.definition.hierarchies.plugin import PluggedIn
from shoal.definition.hierarchies.registry import written
from shoal.errors import BadData, UserError

if TYPE_CHECKING:
    from shoal.encode.table import Attribute

ROWS, FILE = "rows", "file"
"""The keys of a hierarchy file by content, and by reference."""


def content_of(kind: Kind, records_of: Mapping[str, int], k: int) -> Any:
    """A hierarchy as a transformation file has it; `records_of` are those of its values."""
    if not isinstance(kind, Csv):
        return written(kind)
    rows = [list(row) for row in kind.rows("", {}).rows]
    leaves = [row[0] for row in rows]
    is_domain = any(not records_of.get(leaf) for leaf in leaves)
    if is_domain or all(records_of[leaf] >= k for leaf in leaves):
        return {ROWS: rows}
    path = kind.path.resolve()
    return {FILE: str(path), "delimiter": kind.delimiter, "sha256": sha256_of(path)}


def sha256_of(path: Path) -> str:
    """The checksum of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def restored(name: str, content: Any, folder: Path, number: int) -> Any:
    """A hierarchy as a definition has it; rows become a file in the folder."""
    if not isinstance(content, Mapping) or not {ROWS, FILE} & content.keys():
        return content
    if ROWS in content:
        path = folder / f"{number}.csv"
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=";", quoting=csv.QUOTE_ALL).writerows(content[ROWS])
        path.write_text(text.getvalue(), encoding="utf-8", newline="")
        return {"path": str(path)}
    path = Path(content[FILE])
    try:
        unchanged = sha256_of(path) == content["sha256"]
    except OSError:
        unchanged = False
    if not unchanged:
        raise BadData(
            f"the hierarchy file of {name!r} is not there any more, or has changed: {path}",
            code="hierarchy-changed",
            hint="put the file back as it was; the transformation has its checksum",
        )
    return {"path": str(path), "delimiter": content["delimiter"]}


def refuse_dependent(attribute: Attribute, kind: Kind, level: int) -> None:
    """Refuse a rule whose labels at this level depend on more than the value itself."""
    labels = attribute.hierarchy.labels[level]
    if level == 0 or labels == (TOP,) or not isinstance(kind, Groups | PluggedIn):
        return
    if isinstance(kind, PluggedIn) and _is_independent(attribute, kind, level):
        return
    raise UserError(
        f"no transformation can be kept: the labels of {attribute.name!r} at level {level} depend "
        "on all values of the data, so that new values have none",
        code="no-transformation",
        hint=f"write the hierarchy of {attribute.name!r} to a file with `shoal hierarchy make`, and"
        " use that file",
    )


def _is_independent(attribute: Attribute, kind: Kind, level: int) -> bool:
    """Whether each value by itself gets the label that it has among all."""
    groups, labels = attribute.hierarchy.groups[level], attribute.hierarchy.labels
    for leaf, value in enumerate(labels[0]):
        (row,) = kind.rows(attribute.name, {value: 1}).rows
        if len(row) <= level or row[level] != labels[level][groups[leaf]]:
            return False
    return True
