"""A builder has the same levels on every table, so what a definition says of levels always fits."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal

BIRTHS = {"birth": ["1890-01-02", "1890-03-04", "1990-01-02", "1990-03-04"]}
IN_A_DECADE = ["20", "21", "23", "23", "27", None]
LOSSES = [0, 0.2, 0.6, 1]


def anonymize(**keys: Any) -> Any:
    birth = {"role": "quasi-identifier", "hierarchy": {"date": ["year", "century"]}, **keys}
    return shoal.anonymize(pa.table(BIRTHS), {}, k=2, attributes={"birth": birth}, loss="weighted")


def ages(values: list[str | None], k: int = 2, loss: Any = "weighted", **keys: Any) -> Any:
    """The release of a column of ages with the levels 0, 5, 10 and `*`."""
    age = {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10]}, **keys}
    table = pa.table({"age": pa.array(values, pa.string())})
    return shoal.anonymize(table, {}, k=k, attributes={"age": age}, loss=loss, suppression="50%")


def test_a_loss_for_each_level_is_taken() -> None:
    assert anonymize(**{"information loss": [0, 0.2, 0.6, 1]}).num_rows == 4


def test_losses_that_are_not_one_for_each_level_of_the_data_are_refused() -> None:
    with pytest.raises(shoal.BadData, match="3 numbers, but on this data") as error:
        anonymize(**{"information loss": [0, 0.2, 0.6]})
    assert error.value.code == "losses-of-levels"


def test_a_loss_for_each_level_is_taken_where_all_ages_share_a_decade() -> None:
    release = ages(IN_A_DECADE, k=6, **{"information loss": LOSSES})
    assert release.column("age").to_pylist() == ["[20,30)"] * 6


def test_losses_may_leave_out_the_star_where_all_ages_share_a_decade() -> None:
    release = ages(IN_A_DECADE, k=6, **{"information loss": LOSSES[:3]})
    assert release.column("age").to_pylist() == ["[20,30)"] * 6


@pytest.mark.parametrize("loss", ["iyengar", "precision", "entropy", "weighted", "discernibility"])
def test_from_the_star_on_means_the_star_where_all_ages_share_a_decade(loss: str) -> None:
    keys: dict[str, Any] = (
        {"from": 3, "information loss": LOSSES} if loss == "weighted" else {"from": 3}
    )
    release = ages(IN_A_DECADE, k=6, loss=loss, **keys)
    assert release.column("age").to_pylist() == ["*"] * 6


@pytest.mark.parametrize("values", [IN_A_DECADE, ["1", "20", "33", "33"]])
@pytest.mark.parametrize("limit", [2, 3])
def test_a_limit_up_to_the_star_is_taken_on_any_table(values: list[str | None], limit: int) -> None:
    assert ages(values, limit=limit).num_rows >= 2


def test_a_level_above_the_star_is_refused_on_any_table() -> None:
    with pytest.raises(shoal.BadDefinition, match="top level is 3"):
        ages(IN_A_DECADE, limit=4)


def labels(value: str | None, level: int, values: list[str | None]) -> str | None:
    """What a value becomes; missing joins the label that all values have at the end."""
    known = {each for each in values if each is not None}
    if value is None:
        tops = {labels(each, level, values) for each in known}
        return tops.pop() if len(tops) == 1 and level >= 2 else "*" if level == 3 else None
    width = {1: 5, 2: 10}.get(level)
    if width is None:
        return value if level == 0 else "*"
    low = int(value) // width * width
    return f"[{low},{low + width})"


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(["20", "21", "24", "26", "29", "33", None]), min_size=2, max_size=9),
    st.integers(2, 3),
    st.integers(0, 3),
)
@settings(max_examples=50)
def test_the_best_level_is_that_of_trying_all(
    values: list[str | None], k: int, lowest: int
) -> None:
    if not any(values):
        return
    keys: dict[str, Any] = {"from": lowest, "information loss": LOSSES}
    tried = []
    for level in range(lowest, 4):
        became = [labels(each, level, values) for each in values]
        kept = [each for each in became if became.count(each) >= k]
        if kept and 2 * len(kept) >= len(values):
            tried.append((LOSSES[level], len(values) - len(kept), level, sorted(map(str, kept))))
    if not tried:
        with pytest.raises(shoal.Infeasible):
            ages(values, k, **keys)
        return
    release = ages(values, k, **keys)
    best = min(tried)
    assert sorted(map(str, release.column("age").to_pylist())) == best[3]


def test_persons_are_counted_at_the_star_where_all_ages_share_a_decade() -> None:
    table = pa.table({"age": IN_A_DECADE, "name": ["a", "a", "b", "c", "d", "e"]})
    age = {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10]}, "from": 3}
    attributes = {"age": age, "name": {"role": "identifier"}}
    release = shoal.anonymize(table, {}, k=5, attributes=attributes, person="name")
    assert release.column("age").to_pylist() == ["*"] * 6
