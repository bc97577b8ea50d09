"""The suite for privacy models: what search, bounds, verifier and report rely on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from shoal.privacy.base import PlainModel
from shoal.testing.claims import GROWTH, TOLERANCE, claim, growth, near, parameters
from shoal.testing.classes import TREE, Case, many_classes, parts, random_cases

if TYPE_CHECKING:
    from shoal.privacy.base import PrivacyModel

Holds: TypeAlias = Callable[[int, Mapping[str | None, int], Mapping[str | None, int]], bool]
"""A model in plain Python: the size of a class, its values with counts, those of the table."""


class PrivacyModelSuite:
    """Subclass it as `Test...` and return the models to test; each check is a test of its own."""

    cases = 150
    """How many random cases each check draws."""

    def models(self) -> Sequence[PrivacyModel]:
        """The models to test, with various parameters."""
        raise NotImplementedError

    def plain(self, model: PrivacyModel) -> Holds:
        """The model in plain Python: its own `holds`, by which the verifier judges it."""
        if not isinstance(model, PlainModel):
            raise AssertionError(f"{model} has no `holds`: the verifier cannot judge it")
        return model.holds

    def test_a_model_is_a_frozen_value_that_its_parameters_make_again(self) -> None:
        for model in self.models():
            parameters(model)
            lines = model.demanded().splitlines()
            claim(len(lines) == 1, f"{model} does not say in one line what it demands")
            claim(bool(model.name), f"{model} has no name")

    def test_a_definition_that_demands_the_model_gets_it_with_its_parameters(self) -> None:
        from shoal.definition.demands import models_of
        from shoal.definition.read import from_mapping
        from shoal.definition.write import to_mapping

        for model in self.models():
            definition = from_mapping(_definition(model))
            again = from_mapping(to_mapping(definition))
            for each in (definition, again):
                found = models_of(each)[-1]
                claim(found == model, f"a definition that demands {model} gets {found}")

    def test_answers_have_one_entry_for_each_class_and_no_classes_are_no_problem(self) -> None:
        for model in self.models():
            for case in [*random_cases(1, 10), Case((), ("a", "b", None), False)]:
                counts = case.counts(model.attribute)
                satisfied, removal = model.satisfied(counts), model.least_removal(counts)
                claim(
                    satisfied.shape == removal.shape == counts.sizes.shape,
                    f"{model} does not answer once for each of {len(counts.sizes)} classes",
                )
                claim(satisfied.dtype == np.bool_, f"{model}: `satisfied` is not of booleans")
                integers = np.issubdtype(removal.dtype, np.integer)
                claim(bool(integers), f"{model}: `least_removal` is not of whole numbers")
                model.reached(counts)

    def test_a_class_is_judged_by_itself(self) -> None:
        for model, case in self._draw(2):
            together = model.satisfied(case.counts(model.attribute)).tolist()
            alone = [
                bool(model.satisfied(case.counts(model.attribute, [each]))[0])
                for each in case.classes
            ]
            claim(together == alone, f"{model} judges classes by their neighbours in {case}")

    def test_satisfied_agrees_with_plain_python(self) -> None:
        for model, case in self._draw(3):
            holds = self.plain(model)
            found = model.satisfied(case.counts(model.attribute)).tolist()
            for each, satisfied in zip(case.classes, found, strict=True):
                values = case.values_of(each) if model.attribute else {}
                plain = holds(len(each), values, case.table if model.attribute else {})
                claim(
                    satisfied == plain,
                    f"{model}: `satisfied` says {satisfied} and plain Python {plain} of the class "
                    f"{each} in {case}",
                )

    def test_a_union_of_good_classes_is_good_where_the_model_says_so(self) -> None:
        for model, case in self._draw(4):
            if not model.closed_under_union:
                continue
            satisfied = model.satisfied(case.counts(model.attribute))
            good = list(itertools.compress(case.classes, satisfied))
            unions = [
                tuple(itertools.chain(*chosen))
                for size in range(1, len(good) + 1)
                for chosen in itertools.combinations(good, size)
            ]
            judged = model.satisfied(case.counts(model.attribute, unions))
            claim(bool(judged.all()), f"{model} is not closed under union: see {good} in {case}")

    def test_least_removal_is_never_above_the_truth(self) -> None:
        """The truth comes from trying every part of a class."""
        for model, case in self._draw(5):
            found = model.least_removal(case.counts(model.attribute)).tolist()
            for each, removed in zip(case.classes, found, strict=True):
                claim(0 <= removed <= len(each), f"{model} removes {removed} of {each} in {case}")
                if not model.closed_under_union:
                    continue
                every = parts(each)
                good = model.satisfied(case.counts(model.attribute, every))
                kept = max((len(part) for part in itertools.compress(every, good)), default=0)
                claim(
                    removed <= len(each) - kept,
                    f"{model} removes at least {removed} of {each}, but {kept} may stay in {case}",
                )

    def test_what_classes_reach_is_what_the_weakest_of_them_reaches(self) -> None:
        for model, case in self._draw(6):
            alone = [model.reached(case.counts(model.attribute, [each])) for each in case.classes]
            together = model.reached(case.counts(model.attribute))
            weakest = min(alone) if model.higher_is_safer else max(alone)
            claim(
                near(together, weakest),
                f"{model}: classes that reach {alone} reach {together} together in {case}",
            )

    def test_what_is_reached_tells_whether_the_demand_is_met(self) -> None:
        """On the safer side of some number it is met, on the other it is not."""
        for model in self.models():
            met: list[float] = []
            unmet: list[float] = []
            for case in random_cases(7, self.cases):
                counts = case.counts(model.attribute)
                good = bool(model.satisfied(counts).all())
                (met if good else unmet).append(model.reached(counts))
            if not met or not unmet:
                continue
            low, high = (unmet, met) if model.higher_is_safer else (met, unmet)
            claim(
                max(low) <= min(high) + TOLERANCE,
                f"{model}: reaching {min(met)} to {max(met)} meets the demand, and reaching "
                f"{min(unmet)} to {max(unmet)} does not",
            )

    def test_ten_times_the_classes_take_about_ten_times_as_long(self) -> None:
        for model in self.models():
            few, many = (many_classes(model.attribute, n) for n in (10_000, 100_000))
            for ask in (model.satisfied, model.least_removal):
                times = growth(lambda: ask(few), lambda: ask(many))  # noqa: B023
                claim(
                    times < GROWTH, f"{model}: ten times the classes take {times:.0f} times as long"
                )

    def _draw(self, seed: int) -> list[tuple[PrivacyModel, Case]]:
        """Each model with each random case."""
        cases = list(random_cases(seed, self.cases))
        return list(itertools.product(self.models(), cases))


def _definition(model: PrivacyModel) -> dict[str, Any]:
    """A definition that demands the model by its name, of an attribute with a hierarchy."""
    fields = parameters(model)
    fields.pop("attribute", None)
    demand = {"privacy": {model.name: fields}}
    attributes: dict[str, Any] = {"age": "quasi-identifier"}
    if model.attribute is not None:
        tree = {"ab": ["a", "b"], "cd": ["c", "d"], "rest": [v for v in TREE if v > "d"]}
        sensitive = {"role": "sensitive", "hierarchy": {"tree": tree}, **demand}
        attributes[model.attribute] = sensitive
        demand = {}
    return {"source": "table.csv", "k": 2, "attributes": attributes, **demand}
