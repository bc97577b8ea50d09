"""What is wrong with a request before it is sent: each mistake at its key, all at once.

Only the catalog is looked at. No source is opened, so the answer tells nothing of the records, and
somebody who composes a request may be answered at every keystroke. What needs the records (too few
persons, a value that nobody has, an overlap) shows when the request is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shoal.errors import BadDefinition, Mistake, UserError, did_you_mean, quoted
from shoal.mart.describe import stated_levels
from shoal.mart.policy import broken_rules
from shoal.mart.read import request_from_mapping

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog, ColumnRef
    from shoal.mart.conditions import Condition
    from shoal.mart.request import Request

LABELLED = ("=", "!=", "in")
"""The operators that take a label of a hierarchy as well as a value."""


def request_mistakes(
    catalog: Catalog, data: Mapping[str, Any], asker: str | None = None
) -> tuple[Mistake, ...]:
    """Every mistake of a request that the catalog shows, with the key where it is made.

    Keys are those of the file: `project.0`, `select.1`, `k`, `limits.PT`. Every mistake has the
    code that the request would be refused with. Where some keys cannot be read, the others are
    checked all the same. Of a source that the asker may not ask for nothing is told.

    Args:
        catalog: The catalog, as `read_catalog` gives it.
        data: The request, a mapping with the keys of a request file.
        asker: Who asks, in place of whom the request names.

    Example:
        >>> catalog = shoal.mart.read_catalog("catalog.yaml")
        >>> [m.key for m in shoal.mart.request_mistakes(catalog, {"project": ["PX"]})]
        ['project.0']
    """
    seen = _Seen(catalog, asker)
    found: list[Mistake] = []
    request, places = None, list(range(len(_listed(data.get("select")))))
    try:
        request = request_from_mapping(data)
    except BadDefinition as error:
        found += [replace(each, code=each.code or error.code) for each in error.mistakes]
        sound, places = _sound(data, error.mistakes)
        try:
            request = request_from_mapping(sound)
        except BadDefinition:
            return tuple(found)
    named = [*_of_names(seen, request, places)]
    found += [*named, *_of_limits(seen, request)]
    if not named:
        found += _of_values(seen, request, places)
        found += [
            Mistake(each.key, each.rule, each.remedy, code="policy")
            for each in broken_rules(catalog, request, asker, catalog.expand(request.project))
        ]
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class _Seen:
    """A catalog as an asker may see it."""

    catalog: Catalog
    asker: str | None

    def is_open(self, ref: ColumnRef) -> bool:
        """Whether the asker may ask for the source of a column."""
        lists = (self.catalog.policy.askers, self.catalog.sources[ref.source].askers)
        return all(allowed is None or self.asker in allowed for allowed in lists)

    def remedy(self, error: UserError, name: str) -> str:
        """What to write in place of an unknown column: one that the asker may ask for."""
        if error.code != "unknown-column":
            return error.hint
        columns = [ref for ref in self.catalog.columns if self.is_open(ref)]
        near = did_you_mean(name, dict.fromkeys(each for ref in columns for each in ref.names))
        shared = quoted(dict.fromkeys(ref.column for ref in columns))
        return near.lstrip("; ") or f"its columns are {shared}"


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [] if value is None else [value]


def _sound(
    data: Mapping[str, Any], mistakes: Sequence[Mistake]
) -> tuple[dict[str, Any], list[int]]:
    """The request without its broken keys, and the numbers of the conditions that stay."""
    broken = {each.key.split(".")[0] for each in mistakes}
    numbers = {each.key.split(".")[1] for each in mistakes if each.key.startswith("select.")}
    kept = {key: value for key, value in data.items() if key not in broken}
    places: list[int] = []
    conditions = _listed(data.get("select"))
    if ("select" in kept or numbers) and all(isinstance(each, str) for each in conditions):
        places = [i for i in range(len(conditions)) if str(i) not in numbers]
        kept["select"] = [conditions[i] for i in places]
    return kept, places


def _of_names(seen: _Seen, request: Request, places: Sequence[int]) -> Iterator[Mistake]:
    """Columns that the mart does not share, or that several sources share."""
    for number, name in enumerate(request.project):
        yield from _unknown(seen, f"project.{number}", name, is_projected=True)
    for condition, place in _placed(request, places):
        yield from _unknown(seen, f"select.{place}", condition.column)
    for key, given in (("limits", request.limits), ("priorities", request.priorities)):
        for name in given:
            yield from _unknown(seen, f"{key}.{name}", name)


def _placed(request: Request, places: Sequence[int]) -> Iterator[tuple[Condition, int]]:
    """Each condition with its number in the request as it was written."""
    for number, condition in enumerate(request.select):
        yield condition, places[number] if number < len(places) else number


def _unknown(seen: _Seen, key: str, name: str, *, is_projected: bool = False) -> Iterator[Mistake]:
    try:
        if is_projected:
            seen.catalog.expand([name])
        else:
            seen.catalog.find(name)
    except UserError as error:
        yield Mistake(key, error.what, seen.remedy(error, name), code=error.code)


def _of_limits(seen: _Seen, request: Request) -> Iterator[Mistake]:
    """Limits outside of the levels that a column can have."""
    catalog = seen.catalog
    for name, limit in request.limits.items():
        try:
            ref = catalog.find(name)
        except UserError:
            continue
        if not seen.is_open(ref):
            continue
        column, levels = catalog.column(ref), stated_levels(catalog, ref)
        if limit < column.lowest:
            what = f"{limit} is below level {column.lowest}, from which the catalog releases it"
            remedy = f"write a level of {column.lowest} or higher, or leave the column out"
            yield Mistake(f"limits.{name}", what, remedy, code="limit-below-from")
        elif levels and limit >= len(levels):
            what = f"{limit} is above the hierarchy, whose top level is {len(levels) - 1}"
            remedy = f"write a level from 0 to {len(levels) - 1}"
            yield Mistake(f"limits.{name}", what, remedy, code="bad-definition")


def _of_values(seen: _Seen, request: Request, places: Sequence[int]) -> Iterator[Mistake]:
    """Labels that a hierarchy does not have, where the catalog states all of its values."""
    for condition, place in _placed(request, places):
        ref = seen.catalog.find(condition.column)
        known = _all_labels(seen.catalog, ref) if seen.is_open(ref) else None
        if known is None or condition.operator not in (*LABELLED, "=="):
            continue
        for text in condition.values:
            if text not in known:
                what = f"{condition}: {ref} has no value or label {text!r}"
                near = did_you_mean(text, known).lstrip("; ")
                remedy = near or "choose one of the labels in the catalog"
                yield Mistake(f"select.{place}", what, remedy, code="unknown-value")


def _all_labels(catalog: Catalog, ref: ColumnRef) -> dict[str, None] | None:
    """Every value and label of a column; None where only the records tell them."""
    levels = stated_levels(catalog, ref)
    if not levels or levels[0].labels is None:
        return None
    return dict.fromkeys(label for level in levels for label in level.labels or ())
