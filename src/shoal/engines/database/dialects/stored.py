"""How the verifier reads a release in a database: by what is stored, not by what was counted.

Two values that are stored differently have different texts here, storage class included; an empty
text and NaN are values, not missing ones. So no class has more records than somebody sees who
groups the table with the database's own client. The classes that implement it use nothing of
`Values`, by which a release is counted and recoded: a mistake there cannot hide here.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlalchemy as sa

    from shoal.engines.database.fields import Field


class StoredTexts(ABC):
    """The texts of stored values in one kind of database."""

    @abstractmethod
    def raw(self, value: sa.ColumnElement[Any], field: Field) -> sa.ColumnElement[Any]:
        """A text that is another one for every other stored value; null for null alone."""

    @abstractmethod
    def label(self, field: Field, raw: str) -> str:
        """The text of the value that is stored as this raw text."""

    def labels(self, field: Field, raws: Collection[str]) -> dict[str, str]:
        """The label of each of the raw texts of a column, another one for each.

        It is the text of the value, so that a release can be compared with the values of its
        source. Where two stored values would have one label, the second gets its raw text appended:
        that is no value of the source, so the release does not pass.
        """
        labels: dict[str, str] = {}
        taken: set[str] = set()
        for raw in sorted(raws):
            label = self.label(field, raw)
            while label in taken:
                label += f" stored as {raw}"
            taken.add(label)
            labels[raw] = label
        return labels


def truth(text: str) -> str:
    """The text of a boolean that is stored as 0 or 1; another number stays as it is."""
    return {"0": "false", "1": "true"}.get(text, text)


def moment(text: str) -> str:
    """A time without the zeros that end its fraction."""
    whole, point, fraction = text.rpartition(".")
    if not point or not re.search(r":\d\d$", whole) or not re.fullmatch(r"\d*", fraction):
        return text
    digits = fraction.rstrip("0")
    return f"{whole}.{digits}" if digits else whole
