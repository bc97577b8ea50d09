"""The suite for hierarchy builders: every value has labels, and levels nest."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from shoal.testing.claims import claim, parameters

_SHORTEST_LEAK = 3
"""Shorter texts than this are in labels by chance."""


class Builder(Protocol):
    """What a plug-in of the kind `builder` is: a frozen value whose fields are its parameters."""

    def build(self, values: Sequence[str]) -> Sequence[Sequence[str]]:
        """A row for each value: the value, then its label at level 1, 2 and so on."""


class BuilderSuite:
    """Subclass it as `Test...` and return builders and values; each check is a test of its own."""

    cases = 50
    """How many random choices of the values each check draws."""

    def builders(self) -> Sequence[Builder]:
        """The builders to test, with various parameters."""
        raise NotImplementedError

    def values(self) -> Sequence[str]:
        """Values that the builders are for; include unusual ones."""
        raise NotImplementedError

    def test_a_builder_is_a_frozen_value(self) -> None:
        for builder in self.builders():
            parameters(builder)

    def test_every_value_has_one_row_of_labels_as_long_as_all_others(self) -> None:
        for builder, values, rows in self._cases(1):
            claim(
                sorted(row[0] for row in rows) == sorted(values),
                f"{builder} does not give each value one row that begins with it",
            )
            claim(
                len({len(row) for row in rows}) == 1, f"{builder} gives rows of different lengths"
            )
            claim(
                all(isinstance(label, str) and label for row in rows for label in row),
                f"{builder} gives labels that are empty or no text",
            )

    def test_values_with_the_same_label_have_the_same_labels_above_it(self) -> None:
        for builder, _, rows in self._cases(2):
            for level in range(len(rows[0])):
                above: dict[str, tuple[str, ...]] = {}
                for row in rows:
                    claim(
                        above.setdefault(row[level], tuple(row[level:])) == tuple(row[level:]),
                        f"{builder} does not nest: {row[level]!r} of level {level} leads two ways",
                    )

    def test_the_order_of_the_values_says_nothing(self) -> None:
        for builder, values, rows in self._cases(3):
            again = builder.build(list(reversed(values)))
            claim(
                sorted(map(tuple, again)) == sorted(map(tuple, rows)),
                f"{builder} gives other labels when the values come in another order",
            )

    def test_no_label_shows_another_value_of_the_data(self) -> None:
        """A label with the text of another value discloses that this value is in the data.

        It may have the text only if it has it when the value is absent, too.
        """
        for builder, values, rows in self._cases(4):
            for row in rows:
                for other in _shown(row, values):
                    without = builder.build([value for value in values if value != other])
                    labels = next(list(each[1:]) for each in without if each[0] == row[0])
                    claim(
                        any(other in label for label in labels),
                        f"{builder} shows {other!r} in a label of {row[0]!r}",
                    )

    def test_a_single_value_has_a_place_too(self) -> None:
        for builder in self.builders():
            for value in self.values():
                claim(len(builder.build([value])) == 1, f"{builder} has no row for {value!r}")

    def _cases(self, seed: int) -> Iterator[tuple[Any, list[str], Sequence[Sequence[str]]]]:
        draw = random.Random(seed)  # noqa: S311 reproducible cases
        known = list(dict.fromkeys(self.values()))
        for builder in self.builders():
            for number in range(self.cases):
                size = len(known) if number == 0 else draw.randint(1, len(known))
                values = draw.sample(known, size)
                yield builder, values, builder.build(values)


def _shown(row: Sequence[str], values: Sequence[str]) -> list[str]:
    """Other values, long enough to be no coincidence, that are in a label but not in the value."""
    return [
        value
        for value in values
        if len(value) >= _SHORTEST_LEAK and value not in row[0] and any(value in x for x in row[1:])
    ]
