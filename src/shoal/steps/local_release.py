"""Local recoding in a run: what is refused before the search, the search, and its release.

`check_local` refuses what cannot be recoded locally, written or verified. `search_local` runs the
search of `shoal.recoding.local`. `local_classes` and `local_levels` say what it found in the terms
of a release. The search is imported when a definition asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import UserError
from shoal.recoding.local.solution import SUPPRESSED, LocalBest, attribute_losses
from shoal.search.problem import Partition, counts_of
from shoal.search.run import search
from shoal.steps.releasing import LocalLevels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from shoal.definition.model import Definition, Search
    from shoal.encode.hierarchy import Hierarchy
    from shoal.events import Progress
    from shoal.proof.price_file import PriceClaim
    from shoal.search.problem import Problem
    from shoal.steps.releasing import Prepared


def check_options(definition: Definition, options: Mapping[str, object]) -> None:
    """Refuse options that speak of one level for each column; None was not given."""
    given = [name for name, value in options.items() if value is not None]
    if definition.recoding == "local" and given:
        raise full_domain_only(f"`{given[0]}`")


def full_domain_only(what: str) -> UserError:
    """The refusal of something that needs one level for each column."""
    return UserError(
        f"{what} needs one level for each column, and the definition says `recoding: local`",
        code="full-domain-only",
        hint=f"leave out {what}, or write `recoding: full-domain`",
    )


def refuse_local(definition: Definition, what: str, instead: str) -> None:
    """Refuse a question about nodes where a definition says local recoding, which has none.

    `what` says that the question is about nodes, and `instead` what answers it for local recoding.
    """
    if definition.recoding == "local":
        raise UserError(
            f"{what}, with one level for each column, and the definition says `recoding: local`",
            code="full-domain-only",
            hint=f"{instead}; or ask about `recoding: full-domain` (`--recoding full-domain`)",
        )


def check_local(prepared: Prepared) -> None:
    """Refuse, before the search, what cannot be recoded locally or could not be verified."""
    from shoal.recoding.local.refusal import refusal

    reason = refusal(prepared.problem)
    if reason is not None:
        raise UserError(
            reason,
            code="no-local-recoding",
            hint="use full-domain recoding, or another loss, model or source",
        )
    for attribute in prepared.table.attributes:
        _refuse_ambiguous(attribute.hierarchy)


def _refuse_ambiguous(hierarchy: Hierarchy) -> None:
    """Refuse a text that is a label on two levels and has different values under it there.

    Where levels are mixed in one column, nobody could tell what such a label means. `*` may be a
    value and the last label too: it is refused like any other text. Where no value occurs, there
    are no labels.
    """
    if not hierarchy.labels[0]:
        return
    meaning: dict[str, tuple[int, frozenset[int]]] = {}
    for level, (labels, groups) in enumerate(zip(hierarchy.labels, hierarchy.groups, strict=True)):
        order = np.argsort(groups, kind="stable")
        ends = np.cumsum(hierarchy.leaves_under(level))[:-1]
        leaves_of = np.split(order, ends) if labels else []
        for label, leaves in zip(labels, leaves_of, strict=True):
            under = frozenset(leaves.tolist())
            first, before = meaning.setdefault(label, (level, under))
            if before != under:
                raise UserError(
                    f"hierarchy of {hierarchy.attribute!r}: a label of level {level} is also on "
                    f"level {first}, for other values; local recoding mixes the levels",
                    code="ambiguous-label",
                    hint="give every group of values a label of its own, or use full-domain "
                    "recoding",
                )


def search_local(
    problem: Problem, options: Search, observe: Callable[[Progress], None], *, keep_best: bool
) -> Progress:
    """The last event of the search for a local recoding."""
    from shoal.recoding.local.raised import RaisedSearch
    from shoal.recoding.local.run import LocalSearch

    local = LocalSearch(effort=options.effort or "normal")
    strategy = local if problem.table.raised is None else RaisedSearch(local)
    return search(problem, options, observe, keep_best=keep_best, strategy=strategy)


def price_claim(problem: Problem, best: LocalBest) -> PriceClaim | None:
    """The proof of the bound: a price for each tuple, by rising codes. None where there is none.

    A table that was read at higher levels has no prices of its original tuples.
    """
    prices = best.prices
    if prices is None or problem.table.raised is not None:
        return None
    from shoal.proof.price_file import PriceClaim

    order = np.lexsort(problem.table.codes[::-1])
    return PriceClaim(
        prices.known, prices.bound, prices.shares, prices.factor, prices.by_tuple[order]
    )


def local_classes(problem: Problem, best: LocalBest) -> Partition:
    """The classes of a local recoding; the last holds what is suppressed, where there is any."""
    number, released = best.recoding.class_of, best.recoding.classes
    suppressed = bool((number == SUPPRESSED).any())
    class_of = np.where(number == SUPPRESSED, released, number)
    classes = released + suppressed
    counts = counts_of(problem.table, class_of, classes)
    return Partition(class_of, counts, np.arange(classes) < released)


def local_levels(problem: Problem, best: LocalBest) -> LocalLevels:
    """The levels of each tuple, and what each attribute lost."""
    recoding = best.recoding
    unused = np.zeros((1, len(problem.table.attributes)), np.int64)
    levels = np.vstack([recoding.levels, unused])[recoding.class_of]
    return LocalLevels(levels, attribute_losses(problem, recoding))
