"""What the other recoding would have lost, where that is cheap to know.

A local search knows it: it searches full-domain too, until its bound says that no node is better.
For a node, the first groups of a local recoding are looked for, which takes a second or two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.errors import UserError
from shoal.local_release import check_local
from shoal.recoding.local.run import quick_loss
from shoal.recoding.local.solution import LocalBest

if TYPE_CHECKING:
    from shoal.releasing import Prepared
    from shoal.values import Best

SECONDS = 2.0
"""About so long a local recoding is looked for."""


@dataclass(frozen=True)
class OtherRecoding:
    """The loss of the other recoding beside that of a release; at least so much if `at_least`."""

    recoding: str
    loss: float
    released: float
    at_least: bool = False

    def __str__(self) -> str:
        if self.recoding == "local":
            return (
                f"Local recoding would lose about {self.loss:.4f} instead of {self.released:.4f}: "
                "`recoding: local`, where each class has its own levels."
            )
        about = f"{'at least ' if self.at_least else ''}{self.loss:.4f}"
        return (
            f"Full-domain recoding would lose {about} instead of {self.released:.4f}: "
            "`recoding: full-domain`, with one level for each column."
        )


def other_recoding(prepared: Prepared, best: Best) -> OtherRecoding | None:
    """What the other recoding would lose; None where it is not known, or is no better locally."""
    if isinstance(best, LocalBest):
        known = best.full_domain
        if known is None:
            return None
        at_least = known.loss is None
        loss = known.bound if known.loss is None else known.loss
        return OtherRecoding("full-domain", loss, best.loss, at_least)
    try:
        check_local(prepared)
    except UserError:
        return None
    found = quick_loss(prepared.problem, SECONDS)
    if found is None or found >= best.loss:
        return None
    return OtherRecoding("local", found, best.loss)
