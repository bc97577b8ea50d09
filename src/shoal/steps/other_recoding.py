"""What the other recoding would have lost, where that is cheap to know.

After a local recoding the box search looks for the best node, after a node the first groups of a
local recoding are formed; each for a second or two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.errors import UserError
from shoal.events import Proved
from shoal.recoding.local.run import quick_loss
from shoal.search.incumbent import Limits
from shoal.search.strategies.box import BoxSearch
from shoal.steps.local_release import check_local

if TYPE_CHECKING:
    from shoal.steps.releasing import Prepared
    from shoal.values import Best

SECONDS = 2.0
"""About so long the other recoding is looked for."""


def other_recoding(prepared: Prepared, best: Best) -> str | None:
    """What the other recoding would lose, in a sentence; None where that is not known."""
    return _full_domain(prepared, best) if best.local else _local(prepared, best)


def _full_domain(prepared: Prepared, best: Best) -> str | None:
    """The loss of the best node, or of the best that was found in time.

    A table that was counted at higher levels for local recoding may have a better node below them.
    """
    *_, last = BoxSearch().search(prepared.problem, Limits(SECONDS))
    if last.best is None:
        return None
    proved = isinstance(last, Proved) and prepared.table.raised is None
    loss = f"{'' if proved else 'at most '}{last.best.loss:.4f}"
    return (
        f"Full-domain recoding would lose {loss} instead of {best.loss:.4f}: "
        "`recoding: full-domain`, with one level for each column."
    )


def _local(prepared: Prepared, best: Best) -> str | None:
    """About the loss of a local recoding, where it is less."""
    try:
        check_local(prepared)
    except UserError:
        return None
    loss = quick_loss(prepared.problem, SECONDS)
    if loss is None or loss >= best.loss:
        return None
    return (
        f"Local recoding would lose about {loss:.4f} instead of {best.loss:.4f}: "
        "`recoding: local`, where each class has its own levels."
    )
