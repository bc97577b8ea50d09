"""What is said where nothing can be released."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import shoal

ROWS = [("a", "x")] * 4 + [("a", "y")] + [("b", "x")] * 2 + [("b", "y")] * 3 + [("c", "x")]
FRAME = pa.table({"q": [q for q, _ in ROWS], "s": [s for _, s in ROWS]})


def refused(k: int = 2, suppression: int = 0, **demands: Any) -> shoal.Infeasible:
    sensitive = {"s": {"role": "sensitive", **demands}} if demands else {}
    with pytest.raises(shoal.Infeasible) as caught:
        run(k, suppression, sensitive)
    return caught.value


def run(k: int, suppression: int, sensitive: dict[str, Any]) -> None:
    shoal.anonymize(
        FRAME,
        {"q": {"hierarchy": "suppress", "limit": 0}},
        k=k,
        suppression=suppression,
        attributes=sensitive or {"s": "keep"},
    )


def test_a_demand_that_is_named_is_feasible_and_a_little_more_is_not() -> None:
    said = refused(suppression=1, closeness=0.1).hint
    assert "weaken t-closeness of s to 0.236364 or above" in said
    run(2, 1, {"s": {"role": "sensitive", "closeness": 0.236364}})
    refused(suppression=1, closeness=0.236363)


def test_only_demands_whose_weakening_alone_helps_are_named() -> None:
    said = refused(k=6, suppression=1, diversity={"distinct": 2}).hint
    assert "weaken k-anonymity to 5 or below" in said
    assert "distinct-diversity" not in said


def test_a_k_of_one_is_not_offered_as_a_demand() -> None:
    said = refused(k=2).hint
    assert "k-anonymity" not in said
    assert "raise the limit of q to 1; allow 1 suppressed record" in said


@pytest.mark.slow
def test_many_classes_are_explained_without_comparing_each_with_each() -> None:
    frame = pa.table({"q": [f"{i:06}" for i in range(30_000)]})
    with pytest.raises(shoal.Infeasible, match=r"refuses 30,000 of 30,000 classes"):
        shoal.anonymize(frame, {"q": {"hierarchy": {"mask": 3}, "limit": 0}}, k=2)


def test_no_value_of_a_record_is_named_but_what_limits_keep() -> None:
    with pytest.raises(shoal.Infeasible) as caught:
        shoal.anonymize(
            pa.table({"sex": ["f", "f", "queer"], "zip": ["1010", "1010", "9999"]}),
            {
                "sex": {"hierarchy": "suppress", "limit": 0},
                "zip": {"hierarchy": {"mask": 4}, "limit": 0},
            },
            k=2,
            suppression=0,
        )
    said = "\n".join((caught.value.what, caught.value.hint, *caught.value.reasons))
    assert not [value for value in ("queer", "9999", "1010") if value in said]
    assert "refuses 1 of 2 classes, 1 record" in said
    assert "limits keep sex at level 0 of 1, zip at level 0 of 4" in said


def test_a_limit_that_changes_nothing_is_not_offered() -> None:
    with pytest.raises(shoal.Infeasible) as caught:
        shoal.anonymize(
            pa.table({"q": ["a", "b", "c"], "p": ["x", "y", "z"]}),
            {
                "q": {"hierarchy": "suppress", "limit": 0},
                "p": {"hierarchy": {"tree": {"u": ["x", "y"], "v": ["z"]}}, "limit": 0},
            },
            k=4,
        )
    assert "no higher limit of any attribute changes that" in caught.value.what
    assert "raise" not in caught.value.hint


CITIES = [city for city, size in zip("abcd", (2, 3, 4, 7), strict=True) for _ in range(size)]


@pytest.mark.parametrize(
    ("risk", "remedy", "enough"),
    [
        ({"average": 0.1}, "weaken average-risk to 0.214286 or above", {"average": 0.214286}),
        (
            {"records above": {"threshold": 0.2, "share": "10%"}},
            "weaken records-above to 0.500001 or above",
            {"records above": {"threshold": 0.2, "share": 0.500001}},
        ),
    ],
)
def test_the_strongest_risk_that_is_feasible_is_named(
    risk: dict[str, Any], remedy: str, enough: dict[str, Any]
) -> None:
    def release(**demand: Any) -> shoal.Result:
        city = {"city": {"hierarchy": "suppress", "limit": 0}}
        table = pa.table({"city": CITIES})
        return shoal.anonymize(table, city, k=2, suppression=2, with_result=True, **demand)[1]

    with pytest.raises(shoal.Infeasible) as caught:
        release(risk=risk)
    assert remedy in caught.value.hint
    assert "would have to be suppressed, and 2 may be" in caught.value.what
    assert release(risk=enough).suppressed <= 2
