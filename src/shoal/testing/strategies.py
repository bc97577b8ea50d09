"""The suite for search strategies: safe answers, valid bounds, and true proofs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from shoal.events import Improved, Progress, Proved, Stopped
from shoal.testing.claims import TOLERANCE, claim, near

if TYPE_CHECKING:
    from shoal.search.problem import Problem
    from shoal.search.strategies import Strategy

LOSSES = ("iyengar", "precision", "entropy", "discernibility")


class StrategySuite:
    """Subclass it as `Test...` and return the strategies to test; each check is a test."""

    cases = 40
    """How many random problems each check draws."""

    def strategies(self) -> Sequence[Strategy]:
        """The strategies to test, with various parameters."""
        raise NotImplementedError

    def test_a_strategy_is_a_frozen_dataclass_with_a_name(self) -> None:
        for strategy in self.strategies():
            made: Any = getattr(type(strategy), "__dataclass_params__", None)
            claim(made is not None and made.frozen, f"{strategy} is not a frozen dataclass")
            claim(bool(strategy.name), f"{strategy} has no name")

    def test_every_answer_is_safe_and_costs_what_is_said(self) -> None:
        for strategy, problem in self._cases(1):
            for event in _events(strategy, problem):
                best = event.best
                if best is None:
                    continue
                checked = problem.check(best.node)
                claim(checked is not None, f"{strategy} offers the node {best.node}, not safe")
                claim(
                    checked is not None
                    and near(checked.loss, best.loss)
                    and checked.suppressed == best.suppressed,
                    f"{strategy} says that {best.node} costs {best.loss}, which it does not",
                )

    def test_no_bound_is_above_the_optimum(self) -> None:
        for strategy, problem in self._cases(2):
            optimum = _optimum(problem)
            for event in _events(strategy, problem):
                claim(
                    optimum is None or event.bound <= optimum + TOLERANCE,
                    f"{strategy} states the bound {event.bound}, but a node costs {optimum}",
                )

    def test_what_it_proves_is_the_optimum(self) -> None:
        for strategy, problem in self._cases(3):
            last = _events(strategy, problem)[-1]
            if not isinstance(last, Proved):
                continue
            optimum, found = _optimum(problem), None if last.best is None else last.best.loss
            right = found is optimum if optimum is None or found is None else near(found, optimum)
            claim(right, f"{strategy} proves {found}, but the optimum is {optimum}")

    def test_it_improves_with_every_improvement_and_ends(self) -> None:
        for strategy, problem in self._cases(4):
            events = _events(strategy, problem)
            claim(
                isinstance(events[-1], Proved | Stopped) if events else False,
                f"{strategy} ends without saying that it is done",
            )
            losses = [e.best.loss for e in events if isinstance(e, Improved) and e.best is not None]
            claim(
                all(later <= loss + TOLERANCE for loss, later in itertools.pairwise(losses)),
                f"{strategy} calls a worse node an improvement",
            )

    def test_a_limit_of_time_ends_it_with_something_safe_or_nothing(self) -> None:
        for strategy, problem in self._cases(5):
            last = _events(strategy, problem, time_limit=1e-9)[-1]
            claim(isinstance(last, Proved | Stopped), f"{strategy} does not end in time")
            best = last.best
            claim(
                best is None or problem.check(best.node) is not None,
                f"{strategy} stops with a node that is not safe",
            )

    def _cases(self, seed: int) -> Iterator[tuple[Strategy, Problem]]:
        for strategy in self.strategies():
            draw = random.Random(seed)  # noqa: S311 reproducible cases
            for _ in range(self.cases):
                yield strategy, random_problem(draw)


def _events(
    strategy: Strategy, problem: Problem, time_limit: float | None = None
) -> list[Progress]:
    from shoal.search.incumbent import Limits

    return list(strategy.search(problem, Limits(time_limit)))


def _optimum(problem: Problem) -> float | None:
    """The least loss of any node, by exhaustive search."""
    lattice = problem.lattice
    levels = [range(low, high + 1) for low, high in zip(lattice.bottom, lattice.top, strict=True)]
    checked = map(problem.check, itertools.product(*levels))
    return min((best.loss for best in checked if best is not None), default=None)


def random_problem(draw: random.Random) -> Problem:
    """A small problem: some columns with hierarchies, missing values, and one or two demands."""
    import pyarrow as pa

    from shoal.definition.demands import loss_of, models_of
    from shoal.definition.read import from_mapping
    from shoal.encode.table import encode
    from shoal.engines.base import COUNT
    from shoal.search.run import problem_of

    names = [f"q{i}" for i in range(draw.randint(1, 3))]
    hierarchies = [{"groups": [2, 4]}, {"groups": [3]}, "suppress"]
    attributes: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": draw.choice(hierarchies)} for name in names
    }
    attributes["s"] = draw.choice(
        ["keep", {"role": "sensitive", "diversity": {"distinct": 2}}, {"role": "keep"}]
    )
    definition = from_mapping(
        {
            "source": "-",
            "k": draw.randint(2, 4),
            "suppression": draw.choice(["0%", "10%", "25%"]),
            "loss": draw.choice(LOSSES),
            "attributes": attributes,
        }
    )
    counted: dict[tuple[str | None, ...], int] = {}
    for _ in range(draw.randint(4, 30)):
        row = tuple(draw.choice([*"abcdef"[: draw.randint(1, 6)], None]) for _ in names)
        key = (*row, *(draw.choice("xyz") for _ in definition.sensitive))
        counted[key] = counted.get(key, 0) + 1
    columns = list(zip(*counted, strict=True))
    table = pa.table(
        {
            **{
                name: pa.array(column, pa.string())
                for name, column in zip([*names, *definition.sensitive], columns, strict=True)
            },
            COUNT: pa.array(list(counted.values()), pa.int64()),
        }
    )
    encoded = encode(definition, table)
    return problem_of(definition, encoded, models_of(definition), loss_of(definition))
