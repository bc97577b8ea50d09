"""A saved request as the builder can show it: every column by the name that the catalog gives it.

Requests of the API may say `findings.PT`, `genes.*`, or what is a mistake; the builder shows what
it has a field for, and leaves out what means nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from shoal.definition.scalars import Wrong
from shoal.errors import UserError
from shoal.mart.conditions import parse_condition
from shoal.web.pages.request_conditions import Row

if TYPE_CHECKING:
    from shoal.mart.catalog import Catalog

CHOICES: Mapping[str, tuple[str, ...]] = {
    "scope": ("source", "joint"),
    "recoding": ("full-domain", "local"),
    "keys": ("drop", "random"),
}
"""The values of keys that are chosen, not written."""


class Draft:
    """The parts of a request, with the names that the builder uses."""

    def __init__(self, catalog: Catalog, body: Mapping[str, Any], known: Sequence[str]) -> None:
        self._catalog, self._known = catalog, frozenset(known)
        self.columns = {name for each in body.get("project", ()) for name in self._names(str(each))}
        self.rows = [row for each in body.get("select", ()) if (row := self._row(str(each)))]
        self.stated = {
            key: value
            for key, value in body.items()
            if key not in ("project", "select") and value in CHOICES.get(key, (value,))
        }
        for key in ("limits", "priorities"):
            self.stated[key] = {
                name: value
                for each, value in body.get(key, {}).items()
                for name in self._names(str(each))
            }

    def _names(self, column: str) -> list[str]:
        """What the builder calls a column, or all of a source; none where there is none."""
        try:
            found = [self._catalog.short_name(ref) for ref in self._catalog.expand([column])]
        except UserError:
            return []
        return [name for name in found if name in self._known]

    def _row(self, text: str) -> Row | None:
        try:
            condition = parse_condition(text)
        except (Wrong, ValidationError):
            return None
        names = self._names(condition.column)
        return Row(names[0], condition.operator, condition.values) if names else None
