"""Masks: so many stars at one side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.verify.labels.base import TOP, Built

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from shoal.definition.model import Mask


class MaskLabels(Built):
    """At level i the last (or first) `mask[i - 1]` characters are stars.

    A value no longer than that is all stars, as many as the longest value has characters. So the
    labels that are all stars have one length, and no label is longer.
    """

    def __init__(self, spec: Mask, values: Collection[str] | None) -> None:
        super().__init__(len(spec.mask), values)
        self.spec = spec

    def is_value(self, label: str) -> bool:
        """Whether no star is at the masked side; a value with one is known from the source only."""
        return not self._rest_and_stars(label)[1]

    def listed_misfits(self, level: int, labels: Sequence[str]) -> list[str]:
        """Too few or too many stars, a star elsewhere, or all stars of the wrong length."""
        step = self.spec.mask[level - 1]
        if self.values is not None:
            known = set(self.labelled(level).values())
            return [label for label in labels if label not in known]
        longest = max(map(len, labels), default=0)
        return [label for label in labels if not self._fits(label, step, longest)]

    def labelled(self, level: int) -> dict[str, str]:
        """Each value with its stars; one that is no longer than these is nothing but stars."""
        step, values = self.spec.mask[level - 1], self.values or ()
        stars, whole = TOP * step, TOP * max(map(len, values), default=0)
        right = self.spec.side == "right"
        return {
            v: whole if len(v) <= step else v[:-step] + stars if right else stars + v[step:]
            for v in values
        }

    def is_whole(self, label: str) -> bool:
        """The only label of a known source, or all stars and no more than are masked.

        The stars are as many as the longest value has characters, so then all values are masked.
        """
        if self.values is not None:
            return set(self.labelled(self.listed).values()) == {label}
        return set(label) == {TOP} and len(label) <= self.spec.mask[-1]

    def _fits(self, label: str, step: int, longest: int) -> bool:
        rest, stars = self._rest_and_stars(label)
        if not rest:
            return stars == longest
        return stars == step and TOP not in rest

    def _rest_and_stars(self, label: str) -> tuple[str, int]:
        """What is left without the stars at the masked side, and how many these are."""
        rest = label.rstrip(TOP) if self.spec.side == "right" else label.lstrip(TOP)
        return rest, len(label) - len(rest)
