"""A node that a person chose: released if it is safe, refused with what is wrong if it is not."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracle import optimum, outcome
from pipeline.test_run_against_oracle import released, write_case
from problems import Case, cases
from shoal.errors import UserError
from shoal.events import Event, Progress, Stopped
from shoal.steps.choosing import parse_levels


@pytest.mark.slow
@given(cases(), st.data())
@settings(max_examples=60)
def test_any_node_is_released_as_plain_python_would_or_refused(case: Case, data: Any) -> None:
    node = tuple(data.draw(st.integers(0, limit)) for limit in case.limits)
    expected = outcome(case.rows, case.ladders, node, case.k, case.priorities)
    best = optimum(case.rows, case.ladders, case.limits, case.k, case.suppression, case.priorities)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        definition = write_case(case, folder)
        levels = dict(zip(case.names, node, strict=True))
        if expected.suppressed > case.suppression or not expected.released:
            with pytest.raises(shoal.Infeasible) as refused:
                shoal.run(definition, node=levels)
            assert refused.value.code == "node-not-safe"
            assert f"{expected.suppressed} of {len(case.rows)} records" in refused.value.what
            assert not (folder / "release.csv").exists()
            return
        result = shoal.run(definition, node=levels)
        _, rows = released(folder / "release.csv")
    assert best is not None
    assert Counter(row[:-1] for row in rows) == Counter(expected.released)
    assert result.levels == levels
    assert result.verified
    assert result.suppressed == expected.suppressed
    assert result.loss == pytest.approx(float(expected.loss), abs=1e-12)
    assert result.bound == pytest.approx(float(best.loss), abs=1e-9)
    assert result.chosen is not None
    assert result.chosen.proved
    assert result.chosen.optimum == pytest.approx(float(best.loss), abs=1e-12)
    assert tuple(result.chosen.levels.values()) == best.node
    assert result.chosen.more == pytest.approx(float(expected.loss - best.loss), abs=1e-12)
    assert result.status == ("optimal" if expected.loss == best.loss else "feasible")


@pytest.fixture
def definition(tmp_path: Path) -> dict[str, Any]:
    """Two quasi-identifiers, one of them with a limit and a lowest level, one fixed."""
    rows = [f"{20 + i % 30},{10000 + i % 7},{i % 2},w" for i in range(300)]
    data = tmp_path / "data.csv"
    data.write_text("\n".join(["age,zip,sex,ward", *rows, ""]), encoding="utf-8")
    levels = {"from": 1, "limit": 3}
    return {
        "source": str(data),
        "output": str(tmp_path / "release.csv"),
        "k": 20,
        "attributes": {
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 100]}},
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 5}, **levels},
            "sex": {"role": "quasi-identifier", "hierarchy": "suppress", "from": 1, "limit": 1},
            "ward": "keep",
        },
    }


def test_a_level_that_the_definition_fixes_need_not_be_named(definition: dict[str, Any]) -> None:
    result = shoal.run(definition, node={"age": 3, "zip": 2})
    assert result.levels == {"age": 3, "zip": 2, "sex": 1}
    assert result.status == "feasible"
    assert result.chosen is not None
    assert result.gap == pytest.approx((result.loss - result.bound) / result.loss)


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ({"age": 1, "zp": 2}, "no quasi-identifier 'zp'; did you mean 'zip'?"),
        ({"age": 1, "zip": 2, "ward": 0}, "no quasi-identifier 'ward'"),
        ({"age": 1, "zip": 5}, "zip: 5 is above its limit 3"),
        ({"age": 1, "zip": 0}, "zip: 0 is below its lowest level 1"),
        ({"age": 9, "zip": 2}, "age: 9 is above its hierarchy, which ends at level 3"),
        ({"age": -1, "zip": 2}, "age: -1 is below its lowest level 0"),
        ({"age": "1", "zip": 2}, "age: '1' is no level"),
        ({"age": True, "zip": 2}, "age: True is no level"),
        ({"age": 1}, "no level is given for 'zip'"),
        ({"age": 1, "zip": 2, "sex": 0}, "sex: 0 is below its lowest level 1"),
    ],
)
def test_a_wrong_node_is_one_clear_error(
    definition: dict[str, Any], node: dict[str, Any], said: str
) -> None:
    with pytest.raises(UserError) as wrong:
        shoal.run(definition, node=node)
    assert wrong.value.code == "bad-node"
    assert said in wrong.value.what
    assert not Path(definition["output"]).exists()


def test_a_node_that_is_not_safe_says_which_demand_it_misses(definition: dict[str, Any]) -> None:
    with pytest.raises(shoal.Infeasible) as refused:
        shoal.run(definition, node={"age": 0, "zip": 1})
    assert refused.value.exit_code == 3
    assert "reaches k = 10" in refused.value.what
    assert "300 of 300 records would be suppressed, and 0 may be" in refused.value.what
    assert not Path(definition["output"]).exists()


@pytest.mark.slow
def test_only_the_best_node_has_a_proof(definition: dict[str, Any], tmp_path: Path) -> None:
    best = shoal.run(definition)
    proof = tmp_path / "proof.jsonl"
    shoal.run(definition, node={"age": 3, "zip": 3}, proof=proof)
    assert not proof.exists()
    result = shoal.run(definition, node=dict(best.levels), proof=proof)
    assert result.status == "optimal"
    assert result.chosen is not None
    assert result.chosen.more == 0
    assert json.loads(proof.read_text(encoding="utf-8").splitlines()[0])["status"] == "optimal"


def test_a_search_without_a_proof_leaves_a_bound(definition: dict[str, Any]) -> None:
    events: list[Event] = []
    keys = {**definition, "search": {"strategy": "datafly"}}
    result = shoal.run(keys, node={"age": 3, "zip": 2}, observe=events.append)
    assert any(isinstance(event, Stopped) for event in events if isinstance(event, Progress))
    assert result.status == "feasible"
    assert result.chosen is not None
    assert not result.chosen.proved
    assert result.bound <= result.chosen.optimum <= result.loss


def test_levels_are_parsed_from_text() -> None:
    assert parse_levels(["birth=2,zip=3"]) == {"birth": 2, "zip": 3}
    assert parse_levels([" birth = 2 ", "zip=03,"]) == {"birth": 2, "zip": 3}
    assert parse_levels(["a,b=1,c=d=2"]) == {"a,b": 1, "c=d": 2}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("zip=x", "zip: 'x' is no level"),
        ("zip=1.5", "zip: '1.5' is no level"),
        ("zip=-1", "zip: '-1' is no level"),
        ("zip=", "zip: '' is no level"),
        ("zip=1,zip=2", "zip: is there twice"),
        ("zip", "'zip' names no column and level"),
        ("=2", "'=2' names no column and level"),
        ("", "no level is given"),
        ("zip=٣", "zip: '٣' is no level"),
    ],
)
def test_text_that_names_no_levels_is_refused(text: str, said: str) -> None:
    with pytest.raises(UserError, match="cannot be released") as wrong:
        parse_levels([text])
    assert said in wrong.value.what
