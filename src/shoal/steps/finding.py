"""The search of a run, whatever it looks for: a node, or the classes of a local recoding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.recoding.local.solution import LocalBest
from shoal.search.run import search
from shoal.steps.local_release import local_classes, local_levels, search_local
from shoal.steps.releasing import Found

if TYPE_CHECKING:
    from shoal.definition.model import Search
    from shoal.events import History, Progress
    from shoal.proof.log import ProofLog
    from shoal.report.result import Run
    from shoal.search.problem import Problem
    from shoal.steps.kept_search import KeptSearch
    from shoal.steps.releasing import Prepared
    from shoal.values import Best, Choice


def find(
    prepared: Prepared,
    settings: Search,
    history: History,
    *,
    keep_best: bool,
    proof: ProofLog | None = None,
) -> Progress:
    """The last event of the search that the definition asks for."""
    if prepared.definition.recoding == "local":
        return search_local(prepared.problem, settings, history, keep_best=keep_best)
    return search(prepared.problem, settings, history, keep_best=keep_best, log=proof)


def recall(kept: KeptSearch, prepared: Prepared, name: str, history: History) -> Progress:
    """The last event of an earlier search in the source called `name`, with its history."""
    history.recall(kept.moments)
    return kept.last(prepared, name)


def found_of(problem: Problem, best: Best, about: Run, choice: Choice | None) -> Found:
    """What is to be released: the classes of a node, or those of a local recoding."""
    if isinstance(best, LocalBest):
        classes, levels = local_classes(problem, best), local_levels(problem, best)
        return Found(best, classes, about, local=levels)
    return Found(best, problem.partition(best.node), about, choice)
