"""What applying a transformation did, as people and scripts see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from shoal.report.result import to_dict
from shoal.report.sections import Section, answers, count
from shoal.report.shown import Shown

if TYPE_CHECKING:
    from shoal.applying.together import Together
    from shoal.report.result import ShownResult

Released = TypeVar("Released")
"""The kind of frame that was released; None where the release was written."""


@dataclass(frozen=True, repr=False)
class Applied(Shown, Generic[Released]):
    """What applying a transformation did.

    `result` is that of a run. `unknown` records were suppressed since a value of theirs has no
    label; they are among the suppressed of the result, and not in its loss. `together` is the union
    with the earlier release, where there is one. `frame` is the release of a frame that was not
    written anywhere else.
    """

    result: ShownResult
    transformation: str
    unknown: int = 0
    together: Together | None = None
    frame: Released = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `shoal apply --json` writes them."""
        both = None if self.together is None else vars(self.together)
        return {
            **to_dict(self.result),
            "transformation": self.transformation,
            "unknown": self.unknown,
            "together": both,
        }

    def notes(self) -> tuple[str, ...]:
        """What holds beyond the result, a line each."""
        said = []
        if self.unknown:
            said.append(f"Suppressed for a value without a label: {count(self.unknown, 'record')}.")
        if self.together is not None:
            both = self.together
            said.append(
                f"Together with the earlier release: {count(both.records, 'record')} in "
                f"{count(both.classes, 'class', 'classes')}, the smallest of "
                f"{both.smallest_class:,}."
            )
        return tuple(said)

    def sections(self) -> Sequence[Section]:
        """What a result says, and what holds beyond it."""
        more = [Section("What was applied", self.notes())] if self.notes() else []
        return (*answers(self.result), *more)

    def records(self) -> Sequence[Mapping[str, Any]]:
        """A row for each attribute."""
        return [
            {"attribute": name, "level": each.level, "label": each.example, "loss": each.loss}
            for name, each in self.result.treatments.items()
        ]
