"""The suite for losses: what the objective and its bounds rely on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from shoal.loss.base import CellLoss, ClassLoss, LevelLoss
from shoal.testing.claims import GROWTH, TOLERANCE, claim, growth, near, parameters
from shoal.testing.domains import domain_of, random_domains, random_releases

if TYPE_CHECKING:
    from shoal.loss.base import Domain, Loss

Plain: TypeAlias = Callable[..., float]
"""A loss in plain Python. Of cells: (domain, level, code); of levels: (domain, level); of classes:
(sizes, suppressed, records)."""


class LossSuite:
    """Subclass it as `Test...` and return the losses to test; each check is a test of its own."""

    cases = 150
    """How many random cases each check draws."""

    def losses(self) -> Sequence[Loss]:
        """The losses to test, of any kind, with various parameters."""
        raise NotImplementedError

    def plain(self, loss: Loss) -> Plain | None:
        """The loss in plain Python: its own `plain_loss`, None where it has none."""
        plain: Plain | None = getattr(loss, "plain_loss", None)
        return plain

    def test_a_loss_is_a_frozen_value_of_one_kind(self) -> None:
        for loss in self.losses():
            parameters(loss)
            kinds = [isinstance(loss, kind) for kind in (CellLoss, LevelLoss, ClassLoss)]
            claim(sum(kinds) == 1, f"{loss} is not a loss of cells, of levels or of classes")
            claim(bool(loss.name), f"{loss} has no name")

    def test_a_definition_that_names_the_loss_gets_it_with_its_parameters(self) -> None:
        from shoal.definition.demands import loss_of
        from shoal.definition.read import from_mapping
        from shoal.definition.write import to_mapping

        for loss in self.losses():
            definition = from_mapping(_definition(loss))
            for each in (definition, from_mapping(to_mapping(definition))):
                found = loss_of(each)
                claim(found == loss, f"a definition that names {loss} gets {found}")

    def test_costs_of_cells_are_from_0_to_1_and_never_fall_as_the_level_rises(self) -> None:
        for loss, domain in self._cells(1):
            costs = loss.cell_costs(domain)
            shapes = [cost.shape for cost in costs]
            expected = [groups.shape for groups in domain.groups]
            claim(shapes == expected, f"{loss} gives no cost for each level and code of {domain}")
            inside = all(((cost >= 0) & (cost <= 1)).all() for cost in costs)
            claim(inside, f"{loss} has a cost outside 0 to 1: {costs} for {domain}")
            rising = all((high >= low - TOLERANCE).all() for low, high in itertools.pairwise(costs))
            claim(rising, f"{loss} falls as the level rises: {costs} for {domain}")

    def test_a_missing_cell_costs_no_more_than_the_dearest_value(self) -> None:
        for loss, domain in self._cells(2):
            for cost in loss.cell_costs(domain):
                fair = cost[-1] <= cost[:-1].max() + TOLERANCE
                claim(fair, f"{loss} charges missing cells most: {cost} for {domain}")

    def test_costs_of_levels_are_finite_and_never_fall(self) -> None:
        for loss, domain in self._levels(3):
            costs = loss.level_costs(domain)
            claim(len(costs) == domain.height + 1, f"{loss} gives no cost for each level")
            sound = all(math.isfinite(cost) and cost >= 0 for cost in costs)
            claim(sound, f"{loss} has a cost below 0 or none at all: {costs}")
            rising = all(high >= low for low, high in itertools.pairwise(costs))
            claim(rising, f"{loss} falls as the level rises: {costs} for {domain}")

    def test_the_least_loss_of_classes_is_never_above_that_of_any_release(self) -> None:
        for loss in self._classes():
            for release in random_releases(4, 12):
                found = loss.class_loss(
                    np.array(release.sizes, dtype=np.int64), release.suppressed, release.records
                )
                claim(math.isfinite(found), f"{loss} is {found} for {release}")
                finest = np.array(release.finest, dtype=np.int64)
                for dropped in range(release.gone, release.suppressed + 1):
                    least = loss.least(finest, dropped, release.records)
                    claim(
                        least <= found + TOLERANCE,
                        f"{loss} is at least {least} with {dropped} records dropped, but "
                        f"{found} for {release}",
                    )

    def test_a_loss_agrees_with_plain_python(self) -> None:
        for loss in self.losses():
            plain = self.plain(loss)
            if plain is None:
                continue
            for found, arguments in _answers(loss, self.cases):
                expected = plain(*arguments)
                claim(
                    near(found, expected),
                    f"{loss} is {found}, and {expected} in plain Python, for {arguments}",
                )

    def test_ten_times_the_values_take_about_ten_times_as_long(self) -> None:
        few, many = (_wide_domain(values) for values in (10_000, 100_000))
        for loss in self.losses():
            call = _call_of(loss)
            times = growth(lambda: call(few), lambda: call(many))  # noqa: B023
            claim(times < GROWTH, f"{loss}: ten times the values take {times:.0f} times as long")

    def _cells(self, seed: int) -> list[tuple[CellLoss, Domain]]:
        found = [loss for loss in self.losses() if isinstance(loss, CellLoss)]
        return list(itertools.product(found, random_domains(seed, self.cases)))

    def _levels(self, seed: int) -> list[tuple[LevelLoss, Domain]]:
        found = [loss for loss in self.losses() if isinstance(loss, LevelLoss)]
        return list(itertools.product(found, random_domains(seed, self.cases)))

    def _classes(self) -> list[ClassLoss]:
        return [loss for loss in self.losses() if isinstance(loss, ClassLoss)]


def _answers(loss: Loss, cases: int) -> Iterator[tuple[float, tuple[Any, ...]]]:
    """What a loss gives in random cases, each with the arguments of its plain version."""
    if isinstance(loss, ClassLoss):
        for release in random_releases(5, 12):
            sizes, numbers = release.sizes, (release.suppressed, release.records)
            yield loss.class_loss(np.array(sizes, dtype=np.int64), *numbers), (sizes, *numbers)
        return
    for domain in random_domains(6, cases):
        if isinstance(loss, LevelLoss):
            for level, cost in enumerate(loss.level_costs(domain)):
                yield cost, (domain, level)
        else:
            for level, costs in enumerate(loss.cell_costs(domain)):
                for code, cost in enumerate(costs.tolist()):
                    yield cost, (domain, level, code)


def _call_of(loss: Loss) -> Callable[[Domain], object]:
    """The call that the search makes: for a domain, or for as many classes."""
    if isinstance(loss, CellLoss):
        return loss.cell_costs
    if isinstance(loss, LevelLoss):
        return loss.level_costs
    return lambda domain: loss.class_loss(domain.weights, 0, int(domain.weights.sum()))


def _wide_domain(values: int) -> Domain:
    """Many values, in groups of ten, and one top."""
    levels = [list(range(values)), [value // 10 for value in range(values)], [0] * values]
    return domain_of(levels, [1 + value % 7 for value in range(values + 1)])


def _definition(loss: Loss) -> dict[str, Any]:
    """A definition that names the loss."""
    choice = {"name": loss.name, "parameters": parameters(loss)}
    attributes = {"age": "quasi-identifier"}
    return {"source": "table.csv", "k": 2, "loss": choice, "attributes": attributes}
