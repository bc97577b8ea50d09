"""New data against a transformation: its columns, values without a label, labels that differ."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from shoal.definition.hierarchies.mask import Mask
from shoal.errors import BadData, BadHierarchy, did_you_mean, quoted

if TYPE_CHECKING:
    from shoal.definition.hierarchies.base import Kind
    from shoal.definition.model import Definition
    from shoal.encode.table import Attribute
    from shoal.engines.base import Source
    from shoal.release.transformation import Transformation
    from shoal.steps.releasing import Prepared


def match_columns(
    definition: Definition, columns: Sequence[str], name: str, transformation: str
) -> Definition:
    """The definition without attributes that are not released and that the new data lacks.

    Released columns, and those of persons, must be there. Further columns must not be, unless the
    definition of the release dropped what it did not name.
    """
    needed = {*definition.names("quasi-identifier", "sensitive", "keep"), *definition.person}
    absent = [each for each in definition.attributes if each in needed and each not in columns]
    absent += [each for each in definition.person if each not in (*columns, *absent)]
    further = [each for each in columns if each not in definition.attributes]
    if definition.others == "drop":
        further = []
    further = [each for each in further if each not in definition.person]
    if absent or further:
        said = [f"{quoted(absent)} absent" + _near(absent, further)] if absent else []
        said += [f"{quoted(further)} not known to the transformation"] if further else []
        raise BadData(
            f"{name} has other columns than the data of {transformation}: {'; '.join(said)}",
            code="other-columns",
            hint="give the new data the same columns; their order does not matter, and columns"
            " that are not released may be absent",
        )
    kept = {each: a for each, a in definition.attributes.items() if each in columns}
    return definition.model_copy(update={"attributes": kept})


def _near(absent: Sequence[str], further: Sequence[str]) -> str:
    return did_you_mean(absent[0], further) if len(absent) == 1 else ""


def values_of(definition: Definition, source: Source) -> dict[str, dict[str, int]]:
    """The records of each value of each quasi-identifier or sensitive column with a hierarchy."""
    names = [
        name
        for name, attribute in definition.attributes.items()
        if attribute.role in ("quasi-identifier", "sensitive") and attribute.hierarchy is not None
    ]
    found: dict[str, dict[str, int]] = {}
    for name in names:
        counted = source.count_by([name], definition.missing.values)
        texts, numbers = (column.to_pylist() for column in counted.columns)
        found[name] = {t: n for t, n in zip(texts, numbers, strict=True) if t is not None}
    return found


def unknown_values(
    definition: Definition, transformation: Transformation, counts: Mapping[str, Mapping[str, int]]
) -> dict[str, frozenset[str]]:
    """The values without a label, for each column that has any."""
    found: dict[str, frozenset[str]] = {}
    for name, records_of in counts.items():
        kind = definition.attributes[name].hierarchy
        assert kind is not None  # `values_of` looked  # noqa: S101
        longest = transformation.labels.get(name, {}).get("longest")
        too_long = {
            value for value in records_of if isinstance(longest, int) and len(value) > longest
        }
        lacking = too_long | _uncovered(name, kind, records_of)
        if lacking:
            found[name] = frozenset(lacking)
    return found


def _uncovered(name: str, kind: Kind, records_of: Mapping[str, int]) -> set[str]:
    """The values that a hierarchy has no row for."""
    if kind.names_values:
        return set(records_of) - {row[0] for row in kind.rows(name, {}).rows}
    if not records_of or _covers(name, kind, records_of):
        return set()
    return {value for value in records_of if not _covers(name, kind, {value: 1})}


def _covers(name: str, kind: Kind, records_of: Mapping[str, int]) -> bool:
    try:
        kind.rows(name, records_of)
    except BadHierarchy:
        return False
    return True


def refuse_unknown(
    source: str,
    unknown: Mapping[str, Collection[str]],
    counts: Mapping[str, Mapping[str, int]],
    hint: str,
) -> BadData:
    """The error for values without a label: how many, never which."""
    said = []
    for name, texts in unknown.items():
        records = sum(counts[name][text] for text in texts)
        values = "1 value" if len(texts) == 1 else f"{len(texts):,} values"
        said.append(f"{values} of {name!r} ({records:,} {'record' if records == 1 else 'records'})")
    return BadData(
        f"{source} has values that have no label in the transformation: {', '.join(said)}",
        code="unknown-values",
        hint=hint,
    )


def check_labels(prepared: Prepared, transformation: Transformation) -> None:
    """Refuse data on which a rule would give other labels than in the earlier release.

    At the top of a hierarchy with one label, a missing value becomes that label. So what it becomes
    depends on the data. The same is true of the stars of a mask for values that it hides wholly.
    """
    for attribute, counts in zip(prepared.table.attributes, prepared.table.records_of, strict=True):
        said = transformation.labels.get(attribute.name, {})
        kind = prepared.definition.attributes[attribute.name].hierarchy
        has_missing = bool(counts[attribute.missing_code])
        for level in transformation.levels_of(attribute.name):
            if level > attribute.height:
                continue
            if has_missing and attribute.missing_label(level) != _said_of_missing(said, level):
                raise _other_labels(attribute.name, "missing values")
            if _has_other_stars(attribute, kind, level, said.get("longest")):
                raise _other_labels(attribute.name, "values that are hidden wholly")


def _said_of_missing(said: Mapping[str, Any], level: int) -> Any:
    """What a missing value becomes at a level, by the transformation."""
    missing = said.get("missing")
    return missing.get(str(level)) if isinstance(missing, Mapping) else missing


def _has_other_stars(attribute: Attribute, kind: Kind | None, level: int, longest: Any) -> bool:
    """Whether whole values become stars, and not as many as in the earlier release."""
    lengths = [len(leaf) for leaf in attribute.hierarchy.labels[0]]
    if not isinstance(kind, Mask) or not 0 < level <= len(kind.mask) or not lengths:
        return False
    return min(lengths) <= kind.mask[level - 1] and max(lengths) != longest


def _other_labels(name: str, what: str) -> BadData:
    return BadData(
        f"on the new data {what} of {name!r} would get another label than in the earlier release",
        code="other-labels",
        hint="apply the transformation to more data at once, or release anew with `shoal run`",
    )
