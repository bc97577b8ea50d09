"""Every proof of the box search is accepted in full, and a proof that is tampered with is not."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import Ladder
from problems import Case, cases, person_problem, problem_of, sensitive_problem
from shoal.loss.base import Loss
from shoal.loss.builtin import (
    ClassSize,
    Discernibility,
    Iyengar,
    NonUniformEntropy,
    Precision,
    Weighted,
)
from shoal.privacy.alpha import AlphaAnonymity
from shoal.privacy.base import PrivacyModel
from shoal.privacy.beta_likeness import BetaLikeness
from shoal.privacy.delta_disclosure import DeltaDisclosure
from shoal.privacy.distinct_diversity import DistinctDiversity
from shoal.privacy.entropy_diversity import EntropyDiversity
from shoal.privacy.recursive_diversity import RecursiveDiversity
from shoal.privacy.t_closeness import TCloseness
from shoal.proof.bound import Bounds
from shoal.proof.check import Reasons, Sample, check
from shoal.proof.format import Claim, LevelRange, Proof, ProofBox, Subject
from shoal.proof.instance import Instance
from shoal.proof.rows import Attribute, Rows, Sensitive, groups_of
from shoal.search.incumbent import Limits
from shoal.search.objective import CellObjective, ClassObjective, LevelObjective
from shoal.search.problem import Problem
from shoal.search.strategies.box import BoxSearch
from shoal.search.strategies.exhaustive import Exhaustive
from shoal.values import Closed, Finding, Verdict

COMPILED, GENERAL = BoxSearch(), BoxSearch(in_numpy=True)

MODELS: tuple[PrivacyModel, ...] = (
    DistinctDiversity("s", 2),
    EntropyDiversity("s", 1.7),
    RecursiveDiversity("s", 1.5, 2),
    TCloseness("s", 0.3),
    TCloseness("s", 0.2, "ordered"),
    TCloseness("s", 0.3, "hierarchical"),
    AlphaAnonymity("s", 0.6),
    BetaLikeness("s", 0.8),
    BetaLikeness("s", 1.5, True),
    DeltaDisclosure("s", 1.2),
)
LOSSES: tuple[tuple[Loss, str], ...] = (
    (Iyengar(), "mean"),
    (Iyengar(), "geometric"),
    (Precision(), "mean"),
    (NonUniformEntropy(), "mean"),
    (NonUniformEntropy(), "geometric"),
    (Weighted(), "mean"),
    (Discernibility(), "mean"),
    (ClassSize(), "mean"),
)
LADDER = Ladder({f"v{i}": (f"v{i}", f"g{i // 2}", "*") for i in range(4)})
KINDS = st.tuples(
    cases(),
    st.lists(st.integers(-1, 3), min_size=14, max_size=14),
    st.lists(st.sampled_from(MODELS), max_size=2),
    st.sampled_from(LOSSES),
    st.sampled_from([COMPILED, GENERAL]),
)


PERSONS = st.lists(st.integers(0, 5), min_size=14, max_size=14)


def instance_of(problem: Problem) -> Instance:
    """The problem as the checker would have read it: every tuple is a row for each sensitive value,
    and one for the records without any. Where persons are counted, a row is of one person."""
    table, objective = problem.table, problem.objective
    assert isinstance(objective, CellObjective | LevelObjective | ClassObjective)
    tuples, weights, values = list(range(table.tuples)), table.weights.tolist(), None
    person, histogram = None, table.histograms.get("s")
    if table.persons is not None:
        owned = table.persons.held["s"]
        tuples, person = owned.tuple_of.tolist(), owned.person
        values = [value if value < 4 else -1 for value in owned.value.tolist()]
        weights = _records_of_rows(problem, tuples)
    elif histogram is not None:
        tuples, weights, values = [], [], []
        for t in range(table.tuples):
            entries = range(histogram.starts[t], histogram.starts[t + 1])
            held = [(int(histogram.values[i]), int(histogram.counts[i])) for i in entries]
            held.append((-1, int(table.weights[t]) - sum(count for _, count in held)))
            for value, count in held:
                if count:
                    tuples.append(t)
                    weights.append(count)
                    values.append(value)
    attributes = tuple(
        Attribute(
            LevelRange(each.name, each.height, each.limit, each.priority),
            codes[tuples],
            groups_of(each.hierarchy),
            tuple(each.hierarchy.leaves_under(level) for level in range(each.height + 1)),
            each.quantifiers,
        )
        for each, codes in zip(table.attributes, table.codes, strict=True)
    )
    sensitive = (
        {"s": Sensitive(np.array(values, np.int64), histogram.reference)} if histogram else {}
    )
    rows = Rows(attributes, np.array(weights, np.int64), sensitive, person=person)
    aggregate = objective.aggregate if isinstance(objective, CellObjective) else "mean"
    return Instance(rows, problem.models, objective.loss, aggregate, problem.limit)


def _records_of_rows(problem: Problem, tuples: list[int]) -> list[int]:
    """Records of rows that differ by person and value: those of a tuple add up to its own.

    How they are split among the rows of a tuple changes no count.
    """
    first: dict[int, int] = {}
    for row, tuple_of in enumerate(tuples):
        first.setdefault(tuple_of, row)
    weights = [1] * len(tuples)
    for tuple_of, row in first.items():
        others = sum(each == tuple_of for each in tuples) - 1
        weights[row] = int(problem.table.weights[tuple_of]) - others
    return weights


def subject_for(instance: Instance) -> Subject:
    ranges = tuple(attribute.levels for attribute in instance.rows.attributes)
    records, limit = instance.rows.records, instance.limit
    return Subject(ranges, records, 0, limit, ("k >= 2",), (), "any", "mean", "extended", None)


def proof_of(problem: Problem, strategy: BoxSearch) -> Proof | None:
    """The proof of a search as it would be read from its file, None when there is no solution."""
    closed: list[Closed] = []
    *_, last = strategy.search(problem, Limits(threads=1, log=closed.append))
    if last.best is None:
        return None
    stated = asdict(subject_for(instance_of(problem)))
    stated = {**stated, "attributes": list(stated["attributes"]), "privacy": ["k >= 2"]}
    stated["person"] = []
    claim = Claim(last.best.node, last.best.loss, last.best.suppressed)
    boxes = [ProofBox(box.why, box.lo, box.hi, line) for line, box in enumerate(closed, 2)]
    return Proof(stated, claim, tuple(boxes))


def verdict_of(problem: Problem, proof: Proof, sample: Sample | None = None) -> Verdict:
    instance = instance_of(problem)
    return check(instance, subject_for(instance), proof, sample, lambda done, boxes: None)


def refused(problem: Problem, proof: Proof) -> Finding:
    """The finding because of which a proof is refused."""
    (failure,) = verdict_of(problem, proof).failures
    return failure


@pytest.mark.slow
@given(KINDS)
@settings(max_examples=400)
def test_the_proof_of_every_search_is_accepted(
    kind: tuple[Case, list[int], list[PrivacyModel], tuple[Loss, str], BoxSearch],
) -> None:
    case, values, models, loss, strategy = kind
    problem = sensitive_problem(case, values, models, *loss)
    proof = proof_of(problem, strategy)
    if proof is None:
        return
    verdict = verdict_of(problem, proof)
    assert verdict.failures == ()
    assert len(verdict.findings) == 4


@pytest.mark.slow
@given(KINDS, PERSONS)
@settings(max_examples=250)
def test_the_proof_of_every_search_by_persons_is_accepted(
    kind: tuple[Case, list[int], list[PrivacyModel], tuple[Loss, str], BoxSearch],
    persons: list[int],
) -> None:
    case, values, models, loss, strategy = kind
    number = len(case.rows)
    problem = person_problem(case, persons[:number], values[:number], models, *loss)
    proof = proof_of(problem, strategy)
    if proof is None:
        return
    assert verdict_of(problem, proof).failures == ()


@pytest.mark.slow
@given(KINDS)
@settings(max_examples=150)
def test_the_boxes_of_a_search_have_every_node_once(
    kind: tuple[Case, list[int], list[PrivacyModel], tuple[Loss, str], BoxSearch],
) -> None:
    case, values, models, loss, strategy = kind
    problem = sensitive_problem(case, values, models, *loss)
    proof = proof_of(problem, strategy)
    if proof is None:
        return
    sizes = [
        np.prod([high - low + 1 for low, high in zip(box.lo, box.hi, strict=True)])
        for box in proof.boxes
    ]
    assert sum(sizes) == problem.lattice.nodes


SETS: tuple[tuple[list[PrivacyModel], Loss, str], ...] = (
    ([], Iyengar(), "mean"),
    ([], Iyengar(), "geometric"),
    ([], NonUniformEntropy(), "mean"),
    ([], Weighted(), "mean"),
    ([DistinctDiversity("s", 3)], Iyengar(), "mean"),
)
"""Models and losses for which sets of attributes that fall together are looked at."""


def six_attributes(seed: int, models: list[PrivacyModel], loss: Loss, aggregate: str) -> Problem:
    """Six attributes of which only a few can fall: many boxes are closed by sets of them."""
    generator = np.random.default_rng(seed)
    number = int(generator.integers(150, 400))
    draws = np.minimum(generator.geometric(generator.uniform(0.35, 0.75, 6), (number, 6)) - 1, 3)
    rows = tuple(tuple(f"v{value}" for value in row) for row in draws.tolist())
    k, limit = int(generator.integers(2, 7)), int(number * generator.uniform(0.02, 0.15))
    case = Case(rows, (LADDER,) * 6, (2,) * 6, (Fraction(1),) * 6, k, limit)
    values = generator.integers(0, 4, number).tolist()
    return sensitive_problem(case, values, models, loss, aggregate)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", SETS)
def test_what_attributes_drop_together_closes_no_better_node(
    kind: tuple[list[PrivacyModel], Loss, str], seed: int
) -> None:
    problem = six_attributes(seed, *kind)
    *_, truth = Exhaustive().search(problem, Limits())
    *_, last = COMPILED.search(problem, Limits(threads=1))
    proof = proof_of(problem, COMPILED)
    assert last.best == truth.best
    assert proof is not None
    assert verdict_of(problem, proof).failures == ()


@pytest.mark.slow
@given(KINDS, st.data())
@settings(max_examples=400)
def test_no_reason_is_accepted_for_a_box_with_a_better_node(
    kind: tuple[Case, list[int], list[PrivacyModel], tuple[Loss, str], BoxSearch],
    data: st.DataObject,
) -> None:
    case, values, models, loss, _ = kind
    problem = sensitive_problem(case, values, models, *loss)
    ends = [sorted(data.draw(st.tuples(*[st.integers(0, top)] * 2))) for top in case.limits]
    lo, hi = tuple(low for low, _ in ends), tuple(high for _, high in ends)
    nodes = itertools.product(*(range(low, high + 1) for low, high in ends))
    found = [best for best in map(problem.check, nodes) if best is not None]
    if not found:
        return
    least = min(found, key=lambda best: best.rank)
    priority_factor = replace(least, loss=least.loss + 1e-9)
    reasons = Reasons(instance_of(problem), priority_factor)
    for why in ("bound", "infeasible", "single"):
        assert reasons.wrong(ProofBox(why, lo, hi, 2)) is not None


def example() -> Problem:
    """A problem whose proof has boxes of all three kinds."""
    case = Case(
        rows=tuple(
            (f"v{i % 4}", f"v{(i * i) % 5 % 4}", f"v{i * 7 % 11 % 4}") for i in range(0, 60, 1)
        ),
        ladders=(LADDER,) * 3,
        limits=(2, 2, 2),
        priorities=(Fraction(1), Fraction(1, 2), Fraction(1)),
        k=4,
        suppression=6,
    )
    return problem_of(case)


@pytest.fixture(params=[COMPILED, GENERAL], ids=["compiled", "general"])
def proved(request: pytest.FixtureRequest) -> tuple[Problem, Proof]:
    problem = example()
    proof = proof_of(problem, request.param)
    assert proof is not None
    assert {box.why for box in proof.boxes} == {"infeasible", "bound", "single"}
    assert verdict_of(problem, proof).safe
    return problem, proof


def with_step(proof: Proof, number: int, **changed: Any) -> Proof:
    boxes = list(proof.boxes)
    boxes[number] = replace(boxes[number], **changed)
    return replace(proof, boxes=tuple(boxes))


def holder(proof: Proof) -> int:
    """The number of the box that has the best node."""
    (number,) = (i for i, box in enumerate(proof.boxes) if box.lo == box.hi == proof.claim.levels)
    return number


@pytest.mark.slow
def test_a_proof_without_one_of_its_boxes_is_refused(proved: tuple[Problem, Proof]) -> None:
    problem, proof = proved
    for gone in range(len(proof.boxes)):
        less = replace(proof, boxes=proof.boxes[:gone] + proof.boxes[gone + 1 :])
        assert refused(problem, less).name == "proof: cover"


def test_a_box_that_grows_over_the_best_node_is_refused(proved: tuple[Problem, Proof]) -> None:
    problem, proof = proved
    for number, box in enumerate(proof.boxes):
        lo = tuple(map(min, box.lo, proof.claim.levels))
        hi = tuple(map(max, box.hi, proof.claim.levels))
        if (lo, hi) != (box.lo, box.hi):
            grown = with_step(proof, number, lo=lo, hi=hi)
            assert refused(problem, grown).name == "proof: reasons"


def test_a_box_that_shrinks_or_moves_leaves_nodes_without_a_box(
    proved: tuple[Problem, Proof],
) -> None:
    problem, proof = proved
    for number, box in enumerate(proof.boxes):
        for j, (low, high) in enumerate(zip(box.lo, box.hi, strict=True)):
            if low < high:
                lo = (*box.lo[:j], low + 1, *box.lo[j + 1 :])
                hi = (*box.hi[:j], high - 1, *box.hi[j + 1 :])
                assert refused(problem, with_step(proof, number, lo=lo)).name == "proof: cover"
                assert refused(problem, with_step(proof, number, hi=hi)).name == "proof: cover"


def test_a_box_outside_the_lattice_is_refused(proved: tuple[Problem, Proof]) -> None:
    problem, proof = proved
    for outside in ({"lo": (-1, 0, 0)}, {"hi": (3, 2, 2)}, {"lo": (2, 2, 2), "hi": (0, 0, 0)}):
        failure = refused(problem, with_step(proof, 0, **outside))
        assert failure.saw == "the box at line 2 is not inside the lattice"


@pytest.mark.parametrize("why", ["bound", "infeasible", "because"])
def test_the_best_node_cannot_be_closed_for_another_reason(
    proved: tuple[Problem, Proof], why: str
) -> None:
    problem, proof = proved
    number = holder(proof)
    failure = refused(problem, with_step(proof, number, why=why))
    assert failure.name == "proof: reasons"
    assert f"line {number + 2}:" in failure.saw


def test_several_nodes_are_not_a_single_one(proved: tuple[Problem, Proof]) -> None:
    problem, proof = proved
    number = next(i for i, box in enumerate(proof.boxes) if box.lo != box.hi)
    assert "not a single node" in refused(problem, with_step(proof, number, why="single")).saw


def test_a_bound_is_not_infeasibility(proved: tuple[Problem, Proof]) -> None:
    problem, proof = proved
    feasible = [
        i
        for i, box in enumerate(proof.boxes)
        if box.why == "bound" and problem.check(box.hi) is not None
    ]
    assert feasible
    for number in feasible:
        assert "not infeasible" in refused(problem, with_step(proof, number, why="infeasible")).saw


def test_a_worse_node_is_refused_as_the_best(proved: tuple[Problem, Proof]) -> None:
    problem, proof = proved
    for node in itertools.product(range(3), range(3), range(3)):
        found = problem.check(node)
        if node != proof.claim.levels and found is not None:
            claim = Claim(node, found.loss, found.suppressed)
            assert refused(problem, replace(proof, claim=claim)).name == "proof: reasons"


def test_a_claim_that_is_not_what_the_checker_measures_is_refused(
    proved: tuple[Problem, Proof],
) -> None:
    problem, proof = proved
    claim = proof.claim
    for wrong in (
        replace(claim, loss=claim.loss - 1e-6),
        replace(claim, suppressed=claim.suppressed - 1),
        replace(claim, levels=(0, 0, 0)),
        replace(claim, levels=(9, 0, 0)),
    ):
        assert refused(problem, replace(proof, claim=wrong)).name == "proof: best node"


def test_a_proof_about_something_else_is_refused(proved: tuple[Problem, Proof]) -> None:
    problem, proof = proved
    for key in proof.subject:
        other = replace(proof, subject={**proof.subject, key: "other"})
        assert key in refused(problem, other).saw


def test_a_sample_says_how_much_was_checked(proved: tuple[Problem, Proof]) -> None:
    problem, proof = proved
    *_, reasons = verdict_of(problem, proof, Sample(2, 9)).findings
    assert reasons.saw.startswith(f"checked 2 of {len(proof.boxes)} boxes, drawn with seed 9: ")
    *_, reasons = verdict_of(problem, proof, Sample(1000, 9)).findings
    assert reasons.saw.startswith(f"checked all {len(proof.boxes)} boxes: ")


def test_a_seed_draws_the_same_boxes_again(proved: tuple[Problem, Proof]) -> None:
    problem, proof = proved
    wrong = with_step(proof, holder(proof), why="bound")
    outcomes = [verdict_of(problem, wrong, Sample(3, seed)).safe for seed in range(40)]
    assert outcomes == [verdict_of(problem, wrong, Sample(3, seed)).safe for seed in range(40)]
    assert set(outcomes) == {True, False}


@pytest.mark.slow
def test_slabs_show_more_than_the_box_they_are_cut_from() -> None:
    bounds = Bounds(instance_of(example()))
    gained = 0
    for ends in itertools.product(itertools.combinations_with_replacement(range(3), 2), repeat=3):
        lo, hi = tuple(low for low, _ in ends), tuple(high for _, high in ends)
        whole = bounds.least(lo, hi, math.inf)
        slabs = [
            min(
                bounds.least((*lo[:j], x, *lo[j + 1 :]), (*hi[:j], x, *hi[j + 1 :]), math.inf)
                for x in range(lo[j], hi[j] + 1)
            )
            for j in range(3)
        ]
        assert bounds.reaches(lo, hi, max(slabs) - 1e-9)
        assert not bounds.reaches(lo, hi, max(slabs))
        gained += max(slabs) > whole + 1e-6
    assert gained > 10


@pytest.mark.slow
def test_the_checker_imports_nothing_of_the_search() -> None:
    program = "import shoal.proof.check, sys; print([m for m in sys.modules if '.search' in m])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"[]"
