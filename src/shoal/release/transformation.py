"""The transformation file: how a release was recoded, so that new records can be recoded alike.

It is JSON with these keys:

- `shoal transformation`: the version of the format, 1.
- `levels`: the level of each quasi-identifier; in local recoding the records at each level.
- `classes`: in local recoding the released classes, each with its `levels` and `labels` in the
  order of the quasi-identifiers and its `loss`; the finest first.
- `definition`: the demands and the attributes, as in a definition file, hierarchies by content.
- `labels`: for each quasi-identifier what a missing value becomes (`missing`; in local recoding at
  each released level), and for a mask how long the longest value was (`longest`).
- `columns`: the columns of the source, in their order.
- `dropped`: the rule by which records are left out. It lists none.
- `release`: the numbers of the release.
- `checksums`: SHA-256 of the input, of the definition file and of the release, where there are any.
- `versions`: what made it.
- `sha256`: the checksum of all other keys, to notice a file that was cut or edited.

No value of the data is in it that a public domain does not list. A builder is kept as its rule, a
tree as the definition has it. A hierarchy file is kept row by row: its values are the domain of the
column, and a domain does not say who is in the data. Where a file lists no value beyond those of
the data, it may have been made from the data. If such a file has a value that fewer than k records
have, its rows are not kept: the path and the checksum of the file are, and the file is read again
when the transformation is applied.

A rule is enough only if the label of a value depends on the value alone. `groups` is no such rule,
since its runs depend on all values. A mask is one but for the number of stars of short values,
which is kept beside it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.definition.hierarchies.base import TOP, Kind
from shoal.definition.hierarchies.groups import Groups
from shoal.definition.hierarchies.listed import Csv
from shoal.definition.hierarchies.mask import Mask
from shoal.definition.hierarchies.plugin import PluggedIn
from shoal.definition.hierarchies.registry import written
from shoal.definition.write import attribute_mapping, to_mapping
from shoal.errors import BadData, UserError
from shoal.release.local_classes import ReleasedClass

if TYPE_CHECKING:
    from shoal.definition.model import Definition
    from shoal.encode.table import Attribute, Table
    from shoal.values import Result, StatedLevels


FORMAT, VERSION = "shoal transformation", 1
DROPPED = "every class that does not meet the demands of the definition"
NOT_COVERED = "every record that no class covers"
OWN_KEYS = ("source", "output", "report", "search", "engine", "attributes", "others")
"""The keys of a definition that a transformation leaves out, or writes in its own way. It has all
others, so that no demand is lost."""


@dataclass(frozen=True, eq=False)
class Transformation:
    """What a transformation file says; `name` is what messages call it.

    `classes` are those of a local recoding, None for full-domain recoding.
    """

    name: str
    levels: Mapping[str, StatedLevels]
    definition: Mapping[str, Any]
    labels: Mapping[str, Mapping[str, Any]]
    columns: tuple[str, ...]
    checksums: Mapping[str, str | None]
    classes: tuple[ReleasedClass, ...] | None = None

    def levels_of(self, name: str) -> tuple[int, ...]:
        """The levels that a quasi-identifier was released at."""
        levels = self.levels[name]
        return (levels,) if isinstance(levels, int) else tuple(sorted(levels))


def transformation_text(
    definition: Definition,
    table: Table,
    columns: tuple[str, ...],
    result: Result,
    file: Path | None,
    classes: Sequence[ReleasedClass] | None = None,
) -> str:
    """The transformation of a release as JSON.

    `definition` has a role for every column and a hierarchy for every quasi-identifier; `file` is
    where it was read, if it is a file. `classes` are those of a local recoding.
    """
    content: dict[str, Any] = {
        FORMAT: VERSION,
        "levels": {name: _plain_levels(levels) for name, levels in result.levels.items()},
        "definition": _definition(definition, table, result.levels),
        "labels": _labels(definition, table, result.levels),
        "columns": list(columns),
        "dropped": DROPPED if classes is None else f"{NOT_COVERED}, and {DROPPED}",
        "release": {
            "records": result.records,
            "removed": result.removed,
            "suppressed": result.suppressed,
            "classes": result.classes,
            "smallest_class": result.smallest_class,
        },
        "checksums": {
            "input": result.input_sha256,
            "definition": None if file is None else hashlib.sha256(file.read_bytes()).hexdigest(),
            "release": result.output_sha256,
        },
        "versions": dict(result.versions),
    }
    if classes is not None:
        content["classes"] = [each.to_json() for each in classes]
    content["sha256"] = _checksum(content)
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _plain_levels(levels: StatedLevels) -> Any:
    """The keys of JSON are texts."""
    return levels if isinstance(levels, int) else {str(each): n for each, n in levels.items()}


def _used(levels: StatedLevels) -> list[int]:
    """The levels that were released."""
    return [levels] if isinstance(levels, int) else sorted(levels)


def _definition(
    definition: Definition, table: Table, levels: Mapping[str, StatedLevels]
) -> dict[str, Any]:
    """The demands and the attributes, in the keys of a definition file."""
    if definition.population is not None:
        raise UserError(
            "no transformation can be kept: demands against a population need its table, which no "
            "file holds",
            code="no-transformation",
            hint="leave out the transformation; run the definition again for new records",
        )
    mapping = to_mapping(definition)
    kept = {key: value for key, value in mapping.items() if key not in OWN_KEYS}
    if definition.others == "drop":
        kept["others"] = "drop"
    records_of = _records_of(definition, table)
    for column in table.attributes:
        kind = definition.attributes[column.name].hierarchy
        assert kind is not None  # filled in before  # noqa: S101
        for level in _used(levels[column.name]):
            refuse_dependent(column, kind, level)
    attributes: dict[str, Any] = {}
    for name, attribute in definition.attributes.items():
        found = attribute_mapping(attribute)
        if not isinstance(found, str) and attribute.hierarchy is not None:
            content = content_of(attribute.hierarchy, records_of[name], definition.k)
            found = {**found, "hierarchy": content}
        attributes[name] = found
    return {**kept, "attributes": attributes}


def _records_of(definition: Definition, table: Table) -> dict[str, dict[str, int]]:
    """How many records have each value of an attribute with a hierarchy."""
    found = {
        attribute.name: dict(zip(attribute.hierarchy.labels[0], counts.tolist(), strict=False))
        for attribute, counts in zip(table.attributes, table.records_of, strict=True)
    }
    for name in definition.sensitive:
        reference = table.histograms[name].reference
        pairs = zip(reference.values, reference.counts.tolist(), strict=True)
        found[name] = {value: count for value, count in pairs if value is not None}
    return found


def _labels(
    definition: Definition, table: Table, levels: Mapping[str, StatedLevels]
) -> dict[str, dict[str, Any]]:
    """What the labels of each quasi-identifier depend on beside its rule."""
    found: dict[str, dict[str, Any]] = {}
    for attribute in table.attributes:
        stated = levels[attribute.name]
        said: dict[str, Any] = {
            "missing": attribute.missing_label(stated)
            if isinstance(stated, int)
            else {str(level): attribute.missing_label(level) for level in _used(stated)}
        }
        if isinstance(definition.attributes[attribute.name].hierarchy, Mask):
            said["longest"] = max(map(len, attribute.hierarchy.labels[0]), default=0)
        found[attribute.name] = said
    return found


def read_transformation(path: Path) -> Transformation:
    """The transformation in a file; anything else, and what was cut or edited, is BadData."""
    name = str(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _refusal(name, f"cannot be read ({error.strerror})") from None
    except ValueError:
        raise _refusal(name, "is not JSON, or only a part of it") from None
    if not isinstance(content, dict) or FORMAT not in content:
        raise _refusal(name, "is no transformation")
    if content[FORMAT] != VERSION:
        raise _refusal(name, f"has a format that this version does not know: {content[FORMAT]!r}")
    if content.pop("sha256", None) != _checksum(content):
        raise _refusal(name, "has changed since it was written: its checksum is another")
    try:
        return Transformation(
            name,
            {str(key): _stated(level) for key, level in content["levels"].items()},
            dict(content["definition"]),
            {str(key): dict(labels) for key, labels in content["labels"].items()},
            tuple(map(str, content["columns"])),
            dict(content["checksums"]),
            _classes(content),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _refusal(name, "lacks what a transformation has") from None


def _stated(level: Any) -> StatedLevels:
    if isinstance(level, Mapping):
        return {int(each): int(records) for each, records in level.items()}
    return int(level)


def _classes(content: Mapping[str, Any]) -> tuple[ReleasedClass, ...] | None:
    """The classes of a local recoding, finest first; None for full-domain recoding."""
    is_local = content["definition"].get("recoding") == "local"
    if is_local != bool(content.get("classes")):
        raise KeyError("classes")
    if not is_local:
        return None
    found = (ReleasedClass.from_json(each, len(content["levels"])) for each in content["classes"])
    return tuple(sorted(found, key=lambda each: each.rank))


def _checksum(content: Mapping[str, Any]) -> str:
    plain = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def _refusal(name: str, why: str) -> BadData:
    return BadData(
        f"{name} {why}",
        code="bad-transformation",
        hint="give the file that `shoal run --transformation` wrote, as it was written",
    )


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
