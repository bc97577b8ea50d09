"""Whole runs with a demand on the risk: what is released is what plain counting allows."""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracle import Outcome
from pipeline.test_run_against_oracle import released, write_case
from problems import Case, cases
from shoal.proof.check import check_file

RISKS: tuple[dict[str, Any], ...] = (
    {"average": 0.45},
    {"average": 0.3},
    {"average": 0.2},
    {"records above": {"threshold": 0.3, "share": "25%"}},
    {"records above": {"threshold": 0.2, "share": 0}},
    {"average": 0.4, "records above": {"threshold": 0.26, "share": "50%"}},
)


def allowed(risk: dict[str, Any], sizes: list[int]) -> bool:
    """Whether classes of these sizes have no more than the risk that a definition allows."""
    fine = True
    if "average" in risk:
        fine = len(sizes) <= Fraction(str(risk["average"])) * sum(sizes)
    if "records above" in risk:
        threshold = Fraction(str(risk["records above"]["threshold"]))
        share = Fraction(str(risk["records above"]["share"]).rstrip("%")) / 100
        above = sum(size for size in sizes if Fraction(1, size) > threshold)
        fine = fine and above <= share * sum(sizes)
    return fine


def outcome(case: Case, node: tuple[int, ...], risk: dict[str, Any]) -> Outcome:
    """What releasing at a node means: the smallest classes go until the risk is allowed."""
    labels = [
        tuple(
            lad.label(cell, level) for lad, cell, level in zip(case.ladders, row, node, strict=True)
        )
        for row in case.rows
    ]
    ranks = [
        [*dict.fromkeys(steps[level] for steps in ladder.steps.values()), None]
        for ladder, level in zip(case.ladders, node, strict=True)
    ]
    sizes = Counter(labels)
    order = sorted(
        (row for row in sizes if sizes[row] >= case.k),
        key=lambda row: (sizes[row], [r.index(cell) for r, cell in zip(ranks, row, strict=True)]),
    )
    while order and not allowed(risk, [sizes[row] for row in order]):
        order.pop(0)
    stay, loss, rows = set(order), Fraction(0), []
    for row, label in zip(case.rows, labels, strict=True):
        rows += [label] if label in stay else []
        for j, ladder in enumerate(case.ladders):
            cost = ladder.iyengar(row[j], node[j]) if label in stay else Fraction(1)
            loss += case.priorities[j] * cost
    total = loss / len(case.rows) / sum(case.priorities)
    return Outcome(total, len(case.rows) - len(rows), node, tuple(rows))


def optimum(case: Case, risk: dict[str, Any]) -> Outcome | None:
    nodes = itertools.product(*(range(limit + 1) for limit in case.limits))
    safe = [
        found
        for node in nodes
        if (found := outcome(case, node, risk)).released and found.suppressed <= case.suppression
    ]
    return min(safe, key=lambda each: (each.loss, each.suppressed, each.node), default=None)


@pytest.mark.slow
@given(cases(), st.sampled_from(RISKS))
@settings(max_examples=60)
def test_a_run_releases_the_optimum_and_its_proof_holds(case: Case, risk: dict[str, Any]) -> None:
    expected = optimum(case, risk)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        definition = write_case(case, folder, risk=risk)
        if expected is None:
            with pytest.raises(shoal.Infeasible):
                shoal.run(definition)
            return
        result = shoal.run(definition, proof=folder / "proof.jsonl")
        _, rows = released(folder / "release.csv")
        verdict = shoal.verify(folder / "release.csv", definition)
        checked = check_file(
            shoal.pipeline.load(definition), folder / "proof.jsonl", progress=lambda a, b: None
        )
    assert Counter(row[:-1] for row in rows) == Counter(expected.released)
    assert tuple(result.levels.values()) == expected.node
    assert result.loss == pytest.approx(float(expected.loss), abs=1e-12)
    assert result.suppressed == expected.suppressed
    assert all(demand.met for demand in result.privacy)
    assert verdict.safe
    assert checked.verdict.safe
