"""Proofs of bounds for local recodings: plain code accepts what a search finds, and no more."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shoal.collapse.read import collapse, open_records
from shoal.definition.demands import loss_of, models_of
from shoal.definition.read import from_mapping
from shoal.errors import BadData
from shoal.proof.check import Checked, check_file
from shoal.proof.format import LevelRange, read_proof, subject_of
from shoal.proof.log import ProofLog
from shoal.proof.price_file import PriceClaim
from shoal.recoding.local.run import LocalSearch
from shoal.recoding.local.solution import LocalBest
from shoal.search.incumbent import Limits
from shoal.search.run import problem_of
from shoal.steps.local_release import price_claim

Change = Callable[[PriceClaim], PriceClaim]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """People with missing cells; some have several records."""
    draw = random.Random(4)
    lines = ["who,age,zip,job,illness"]
    for i in range(160):
        age = draw.choice(["", *[str(int(draw.gauss(40, 12)))] * 5])
        place = draw.choice(["101", "102", "113", "211", "212", "NA"])
        job = draw.choice(["nurse", "baker", "smith", ""])
        lines.append(f"{i % 120},{age},{place},{job},{draw.choice(['flu', 'cold', 'rash'])}")
    (tmp_path / "people.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return tmp_path


def definition(folder: Path, **changed: Any) -> dict[str, Any]:
    return {
        "source": str(folder / "people.csv"),
        "output": str(folder / "release.csv"),
        "k": 3,
        "recoding": "local",
        "missing": {"match": "extended", "values": ["NA"]},
        "attributes": {
            "who": "identifier",
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 3}, "priority": 0.5},
            "job": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "illness": changed.pop("illness", "keep"),
        },
        **changed,
    }


def write_proof(
    mapping: dict[str, Any], path: Path, change: Change = lambda claim: claim
) -> PriceClaim:
    """Search, and write the prices of the last event, perhaps changed."""
    described = from_mapping(mapping)
    with open_records(described) as source:
        counted = collapse(described, source, None)
        fingerprint = source.fingerprint()
    filled, table = counted.definition, counted.table
    problem = problem_of(filled, table, models_of(filled), loss_of(filled))
    *_, last = LocalSearch("low").search(problem, Limits(threads=1))
    assert isinstance(last.best, LocalBest)
    found = price_claim(problem, last.best)
    assert found is not None
    claim = change(found)
    ranges = [LevelRange(a.name, a.height, a.limit, a.priority, a.lowest) for a in table.attributes]
    subject = subject_of(filled, ranges, table.records, table.removed, fingerprint)
    with ProofLog(path) as log:
        log.stage_prices(subject, claim)
        log.publish()
    return claim


def checked(mapping: dict[str, Any], path: Path) -> Checked:
    return check_file(from_mapping(mapping), path, progress=lambda _done, _all: None)


@pytest.mark.parametrize("name", ["prices.jsonl", "prices.jsonl.gz"])
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"suppression": "10%"},
        {"missing": {"match": "basic", "values": ["NA"]}},
        {"loss": {"name": "precision"}},
        {"loss": {"name": "entropy"}},
        {"loss": {"name": "iyengar", "aggregate": "geometric"}},
        {"illness": {"role": "sensitive", "diversity": {"distinct": 3}}},
        {"person": ["who"]},
    ],
    ids=[
        "plain",
        "suppression",
        "basic",
        "precision",
        "entropy",
        "geometric",
        "diverse",
        "persons",
    ],
)
def test_the_prices_of_a_search_are_accepted(
    folder: Path, changed: dict[str, Any], name: str
) -> None:
    mapping = definition(folder, **changed)
    claim = write_proof(mapping, folder / name)
    assert claim.bound > 0
    found = checked(mapping, folder / name)
    assert found.verdict.safe, found.verdict.failures
    assert len(found.verdict.findings) == 4
    assert found.levels == {}


def raised(claim: PriceClaim) -> PriceClaim:
    return replace(claim, prices=claim.prices + claim.prices // 10)


def one_raised(claim: PriceClaim) -> PriceClaim:
    prices = claim.prices.copy()
    prices[int(np.argmax(prices))] = 2**30
    return replace(claim, prices=prices)


WRONG: tuple[tuple[Change, str], ...] = (
    (raised, "prices: labels"),
    (one_raised, "prices: labels"),
    (lambda claim: replace(claim, prices=claim.prices[1:]), "prices: labels"),
    (lambda claim: replace(claim, prices=claim.prices + 2**30), "prices: labels"),
    (lambda claim: replace(claim, bound=claim.bound * 1.001), "prices: bound"),
    (lambda claim: replace(claim, factor=claim.factor * 1.001), "prices: scale"),
    (lambda claim: replace(claim, shares=claim.shares[1:]), "prices: scale"),
)


@pytest.mark.parametrize(
    ("change", "finding"),
    WRONG,
    ids=["raised", "one raised", "one missing", "above 1", "bound", "factor", "shares"],
)
def test_a_wrong_claim_is_refused(folder: Path, change: Change, finding: str) -> None:
    mapping = definition(folder)
    write_proof(mapping, folder / "prices.jsonl", change)
    found = checked(mapping, folder / "prices.jsonl")
    assert [each.name for each in found.verdict.failures] == [finding]


def test_a_lower_known_loss_proves_no_higher_bound(folder: Path) -> None:
    """The sum that bounds the geometric join is steeper, the less the best known recoding loses."""

    def steeper(claim: PriceClaim) -> PriceClaim:
        rise = (1 - 1e-6) / (sum(claim.shares) * claim.factor)
        bound = 0.999 * math.expm1(math.log1p(claim.bound) * rise)
        assert bound > claim.bound
        return replace(claim, loss=0.0, bound=bound, factor=claim.factor * rise)

    mapping = definition(folder, loss={"name": "iyengar", "aggregate": "geometric"})
    mapping["attributes"]["zip"]["priority"] = 1
    write_proof(mapping, folder / "prices.jsonl", steeper)
    found = checked(mapping, folder / "prices.jsonl")
    assert [each.name for each in found.verdict.failures] == ["prices: bound"]


def test_prices_of_another_demand_are_refused(folder: Path) -> None:
    write_proof(definition(folder), folder / "prices.jsonl")
    found = checked(definition(folder, k=2), folder / "prices.jsonl")
    assert [each.name for each in found.verdict.failures] == ["proof: subject"]


@pytest.mark.parametrize(
    ("old", "new"),
    [('"shoal prices": 1', '"shoal prices": 2'), ('"claim"', '"says"'), ('"factor"', '"f"')],
)
def test_a_file_that_is_no_proof_is_refused(folder: Path, old: str, new: str) -> None:
    path = folder / "prices.jsonl"
    write_proof(definition(folder), path)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(BadData) as caught:
        read_proof(path)
    assert caught.value.code == "bad-proof"


@pytest.mark.parametrize("number", ["1e999", "NaN", "1" + "0" * 400, "true"])
def test_a_number_that_no_float_holds_is_refused(folder: Path, number: str) -> None:
    path = folder / "prices.jsonl"
    claim = write_proof(definition(folder), path)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f'"loss": {claim.loss!r}', f'"loss": {number}'), encoding="utf-8")
    with pytest.raises(BadData, match="states no loss"):
        read_proof(path)


def test_a_known_loss_beyond_all_others_makes_no_price_right(folder: Path) -> None:
    mapping = definition(folder, loss={"name": "iyengar", "aggregate": "geometric"})
    write_proof(mapping, folder / "prices.jsonl", lambda claim: replace(claim, loss=1e300))
    found = checked(mapping, folder / "prices.jsonl")
    assert [each.name for each in found.verdict.failures] == ["prices: scale"]


@pytest.mark.parametrize("line", ["-3", "1.5", "12345678901", "", "x"])
def test_a_line_without_a_price_is_refused(folder: Path, line: str) -> None:
    path = folder / "prices.jsonl"
    write_proof(definition(folder), path)
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(BadData, match="has no price at line"):
        read_proof(path)
