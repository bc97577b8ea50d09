"""Changes of a definition by pages: single keys, and the remedies of an infeasible demand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shoal.analysis.best_node import find_best
from shoal.errors import Infeasible
from shoal.web.edits import value_at, with_value
from shoal.web.remedies import applied


def test_a_key_below_a_short_form_makes_it_long() -> None:
    short = {"attributes": {"zip": "quasi-identifier"}, "missing": "basic"}
    long = with_value(short, ("attributes", "zip", "limit"), 2)
    assert long["attributes"] == {"zip": {"role": "quasi-identifier", "limit": 2}}
    assert with_value(short, ("missing", "values"), ["?"])["missing"] == {
        "match": "basic",
        "values": ["?"],
    }
    assert short["attributes"] == {"zip": "quasi-identifier"}


def test_what_becomes_empty_is_left_out() -> None:
    full = {"k": 5, "risk": {"average": 0.1}, "attributes": {"zip": {"role": "keep"}}}
    assert with_value(full, ("risk", "average"), None) == {
        "k": 5,
        "attributes": {"zip": {"role": "keep"}},
    }
    assert with_value({"attributes": {}}, ("attributes",), {}) == {"attributes": {}}


def test_a_value_is_found_below_short_forms_too() -> None:
    definition = {"attributes": {"a": {"role": "sensitive", "closeness": 0.2}, "b": "drop"}}
    assert value_at(definition, ("attributes", "a", "closeness", "t")) == 0.2
    assert value_at(definition, ("attributes", "b", "role")) == "drop"
    assert value_at(definition, ("attributes", "b", "limit")) is None
    assert value_at(definition, ("risk", "average")) is None


DEMANDS: list[dict[str, Any]] = [
    {"k": 41},
    {"k": 2, "limit": 0},
    {"diversity": {"distinct": 4}},
    {"diversity": {"entropy": 3.9}},
    {"closeness": {"t": 0.01}},
    {"alpha": 0.2},
    {"likeness": {"beta": 0.001}},
    {"disclosure": 0.001},
]


def definition(folder: Path, demand: dict[str, Any]) -> dict[str, Any]:
    """Forty records; the column to limit has a name that looks like a part of a remedy."""
    source = folder / "it.csv"
    lines = [f"{i},{i % 2},{'aaabbc'[i % 6]}" for i in range(40)]
    source.write_text("\n".join(["x to 3 and of y,sex,illness", *lines]), encoding="utf-8")
    asked = {key: value for key, value in demand.items() if key not in ("k", "limit")}
    column: dict[str, Any] = {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 20]}}
    if "limit" in demand:
        column["limit"] = demand["limit"]
    elif asked:
        column["limit"] = 2
    return {
        "source": str(source),
        "k": demand.get("k", 2),
        "attributes": {
            "x to 3 and of y": column,
            "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "illness": {"role": "sensitive", **asked} if asked else "keep",
        },
    }


@pytest.mark.parametrize("demand", DEMANDS, ids=str)
def test_each_remedy_that_is_understood_makes_the_demand_feasible(
    demand: dict[str, Any], tmp_path: Path
) -> None:
    asked = definition(tmp_path, demand)
    with pytest.raises(Infeasible) as caught:
        find_best(asked)
    changed = [applied(asked, remedy) for remedy in caught.value.remedies]
    assert changed
    for remedy, each in zip(caught.value.remedies, changed, strict=True):
        assert each is not None, remedy
        find_best(each)


def test_a_remedy_that_is_not_understood_changes_nothing() -> None:
    some = {"k": 5, "attributes": {"zip": "quasi-identifier"}}
    for remedy in ("do something else", "raise the limit of nobody to 3", "weaken magic to 3"):
        assert applied(some, remedy) is None
