"""Why there is no solution, and what would be feasible instead."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shoal.errors import Infeasible
from shoal.privacy.base import TableModel, accepts, reaches
from shoal.privacy.population import DeltaPresence
from shoal.privacy.risk import AverageRisk, RecordsAbove
from shoal.search.problem import select
from shoal.search.relax import smallest_raises
from shoal.values import Counts, Histogram

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shoal.privacy.base import PrivacyModel
    from shoal.search.problem import Partition, Problem
    from shoal.values import Bools


def why_infeasible(problem: Problem) -> Infeasible:
    """The proved answer that nothing can be released, with the reason at the most general node.

    For each model that refuses a class there: how many classes and records, and where weakening it
    alone is enough, the strongest demand that is feasible. Then the smallest sets of limits whose
    raising is enough. Each remedy is enough by itself. No value of the data is named.
    """
    partition = problem.partition(problem.lattice.top)
    table, suppressed = problem.table, partition.suppressed
    reasons, remedies = [], []
    for model in problem.models:
        failing = refused(problem, partition.counts, model)
        if failing.any():
            reasons.append(_reason(partition, model, failing))
            remedies.append(_weaker(problem, partition, model))
    reasons += _limited(problem)
    raises = smallest_raises(problem)
    remedies += [_raise(each) for each in raises.found]
    if not raises.found and any(a.limit < a.height for a in table.attributes):
        reasons.append(
            "no higher limit of any attribute changes that"
            if raises.complete
            else "whether higher limits would change that was not found out in time"
        )
    if suppressed < table.records:
        remedies.append(f"allow {suppressed:,} suppressed {_plural(suppressed, 'record')}")
    enough = [remedy for remedy in remedies if remedy]
    said = (
        f"no transformation meets the demand; nothing was released. At the most general one "
        f"{suppressed:,} of {table.records:,} {_plural(table.records, 'record')} would have to be "
        f"suppressed, and {problem.limit:,} may be"
    )
    return Infeasible(
        said + "".join(f"\n  {reason}" for reason in reasons),
        code="infeasible",
        hint=f"any one of these is enough: {'; '.join(enough)}"
        if enough
        else "no weaker demand of one kind is enough",
        reasons=(said, *reasons),
        remedies=enough,
    )


def refused(problem: Problem, counts: Counts, model: PrivacyModel) -> Bools:
    """The classes that a model refuses, or drops of those that no model refuses."""
    failing: Bools = ~accepts(model, counts)
    if isinstance(model, TableModel):
        kept = _accepted(problem, counts)
        failing |= kept & ~model.keep(counts, kept)
    return failing


def _accepted(problem: Problem, counts: Counts, but: PrivacyModel | None = None) -> Bools:
    """The classes that every model accepts by itself, one model left out."""
    kept = np.ones(len(counts.sizes), dtype=np.bool_)
    for model in problem.models:
        if model is not but:
            kept &= accepts(model, counts)
    return kept


def _raise(levels: Mapping[str, int]) -> str:
    """The limits to raise together, with the level that each needs."""
    each = " and ".join(f"of {name} to {level}" for name, level in levels.items())
    return f"raise the {_plural(len(levels), 'limit')} {each}"


def _reason(partition: Partition, model: PrivacyModel, failing: Bools) -> str:
    """How many classes and records a model refuses at the most general node.

    No label of such a class is named: where a limit keeps a column as it is, that would be the very
    values of the people whom nothing hides.
    """
    sizes = partition.counts.sizes
    records = int(sizes[failing].sum())
    return (
        f"{_title(model)} ({model.demanded()}) refuses {int(failing.sum()):,} of {len(sizes):,} "
        f"{_plural(len(sizes), 'class', 'classes')}, {records:,} {_plural(records, 'record')}"
    )


def _limited(problem: Problem) -> list[str]:
    """The attributes whose limits keep them below the top of their hierarchies, in one line."""
    kept = [
        f"{attribute.name} at level {attribute.limit} of {attribute.height}"
        for attribute in problem.table.attributes
        if attribute.limit < attribute.height
    ]
    return [f"limits keep {', '.join(kept)}"] if kept else []


def _weaker(problem: Problem, partition: Partition, model: PrivacyModel) -> str:
    """The strongest demand of a model that is feasible at this node, all other demands as they are.

    Classes that other models refuse are suppressed anyway. The rest of the limit is used for the
    classes that are worst by this model; what is then left reaches the demand that is named. Where
    the others alone exceed the limit, weakening this one does not help, and the text is empty. It
    is also empty where only a trivial demand would be met, a k or a diversity of 1, and where
    another model looks at all classes together: what it drops then is not foreseen. Nor is a weaker
    least share of the population named.
    """
    counts = partition.counts
    if any(isinstance(each, TableModel) for each in problem.models if each is not model):
        return ""
    if isinstance(model, DeltaPresence) and model.least > 0:
        return ""
    kept = _accepted(problem, counts, but=model)
    spare = problem.limit - int(counts.sizes[~kept].sum())
    if spare < 0:
        return ""
    chosen = np.flatnonzero(kept)
    if isinstance(model, AverageRisk | RecordsAbove):
        worst_first = chosen[np.argsort(counts.sizes[chosen], kind="stable")]
    else:
        each = np.array([reaches(model, _alone(counts, int(c))) for c in chosen])
        worst_first = chosen[np.argsort(each if model.higher_is_safer else -each, kind="stable")]
    kept[worst_first[np.cumsum(counts.sizes[worst_first]) <= spare]] = False
    if not kept.any():
        return ""
    reached = reaches(model, select(counts, kept))
    if not np.isfinite(reached) or (model.higher_is_safer and reached <= 1):
        return ""
    if isinstance(model, TableModel) and reached >= 1:
        return ""
    side = "below" if model.higher_is_safer else "above"
    return f"weaken {_title(model)} to {_safe_side(reached, model.higher_is_safer):.6g} or {side}"


def _alone(counts: Counts, number: int) -> Counts:
    """One class."""
    histograms = {}
    for name, each in counts.histograms.items():
        start, end = each.starts[number : number + 2]
        histograms[name] = Histogram(
            np.array([0, end - start]),
            each.values[start:end],
            each.counts[start:end],
            each.reference,
        )
    only = slice(number, number + 1)
    members = {name: each[only] for name, each in counts.members.items()}
    population = None if counts.population is None else counts.population[only]
    return Counts(counts.sizes[only], histograms, members, population)


def _safe_side(value: float, higher_is_safer: bool) -> float:
    """The value to six digits, never as strong as the value itself unless that is a whole number.

    Some demands hold only for more than what is reached, and a rounded number must hold too.
    """
    if value == 0 or (higher_is_safer and value == int(value)):
        return value
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 5)
    return (math.floor(value / step) + (0 if higher_is_safer else 1)) * step


def _title(model: PrivacyModel) -> str:
    return f"{model.name} of {model.attribute}" if model.attribute else model.name


def _plural(number: int, singular: str, plural: str = "") -> str:
    return singular if number == 1 else plural or f"{singular}s"
