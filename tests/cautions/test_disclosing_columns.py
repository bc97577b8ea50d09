"""What a kept column discloses of a quasi-identifier: relations are reported, noise is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.cautions.kept import Disclosed, disclosed

Kept = Callable[[np.ndarray, np.random.Generator], np.ndarray]


def seen(labels: Sequence[int], values: Sequence[int], kept: Sequence[object]) -> Disclosed | None:
    """What is disclosed by records with their label, their value and their kept value."""
    code = {value: number for number, value in enumerate(dict.fromkeys(kept))}
    rows = Counter(zip(labels, values, (code[each] for each in kept), strict=True))
    columns = np.array([(*row, count) for row, count in rows.items()], np.int64).T
    return disclosed(*columns)


def ages(records: int, seed: int, kept: Kept, width: int = 20) -> Disclosed | None:
    """Ages of 18 to 89 that are released in intervals, beside a kept column."""
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 90, records)
    return seen((age // width).tolist(), age.tolist(), kept(age, draw).tolist())


RELATED: dict[str, Kept] = {
    "a linear function": lambda age, _: age * 1.5,
    "a falling function": lambda age, _: 200 - 3 * age,
    "a code": lambda age, _: (age * 7919) % 10007,
    "a year of birth": lambda age, draw: 2024 - age - draw.integers(0, 2, len(age)),
    "a date of birth": lambda age, draw: (2024 - age) * 100 + draw.integers(0, 60, len(age)),
    "a decade": lambda age, _: age // 10,
    "half a decade": lambda age, _: age // 5,
    "a function with noise": lambda age, draw: np.round(age + draw.normal(0, 0.7, len(age))),
}
UNRELATED: dict[str, Kept] = {
    "two values": lambda age, draw: draw.integers(0, 2, len(age)),
    "twenty values": lambda age, draw: draw.integers(0, 20, len(age)),
    "hundreds of values": lambda age, draw: draw.integers(0, 300, len(age)),
    "thousands of values": lambda age, draw: draw.integers(0, 3000, len(age)),
    "few and many values": lambda age, draw: draw.geometric(0.02, len(age)),
    "a value for each record": lambda age, _: np.arange(len(age)),
    "the label itself": lambda age, _: age // 20,
    "less than the label": lambda age, _: age // 40,
    "a weak relation": lambda age, draw: age // 20 + draw.integers(0, 3, len(age)),
    "one value": lambda age, _: age * 0,
}


@pytest.mark.parametrize("relation", RELATED)
@pytest.mark.parametrize("records", [400, 5000])
def test_a_column_that_discloses_finer_values_is_reported(relation: str, records: int) -> None:
    found = ages(records, 1, RELATED[relation])
    assert found is not None
    assert found.records > 0
    assert found.exactly <= found.records <= records


@pytest.mark.slow
@pytest.mark.parametrize("relation", UNRELATED)
@pytest.mark.parametrize("records", [30, 400, 5000])
def test_a_column_that_has_nothing_to_do_with_it_is_not_seen(relation: str, records: int) -> None:
    for seed in range(20):
        assert ages(records, seed, UNRELATED[relation]) is None


def test_all_records_of_a_function_are_counted_exactly() -> None:
    assert ages(5000, 1, lambda age, _: age * 1.5) == Disclosed(5000, 5000)


def test_a_column_that_discloses_a_noticeable_share_is_reported_with_its_records() -> None:
    part: Kept = lambda age, draw: np.where(draw.random(len(age)) < 0.1, age, 0)  # noqa: E731
    found = ages(5000, 1, part)
    assert found is not None
    assert 400 < found.records == found.exactly < 600


def test_a_town_discloses_more_of_a_postcode_than_its_first_digits() -> None:
    draw = np.random.default_rng(3)
    postcodes = draw.integers(10_000, 10_400, 3000)
    assert seen((postcodes // 1000).tolist(), postcodes.tolist(), (postcodes // 10).tolist())


def test_a_title_discloses_a_sex_that_is_suppressed() -> None:
    draw = np.random.default_rng(3)
    sex = draw.integers(0, 2, 300)
    assert seen([0] * 300, sex.tolist(), (sex + 5).tolist()) == Disclosed(300, 300)


def test_labels_that_mean_one_value_disclose_nothing() -> None:
    values = [1, 2, 3] * 50
    assert seen(values, values, values) is None


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(5, 300), st.integers(1, 40), st.integers(1, 60))
def test_noise_of_any_shape_is_not_seen(
    seed: int, records: int, values: int, kept_values: int
) -> None:
    draw = np.random.default_rng(seed)
    value = draw.integers(0, values, records)
    kept = draw.integers(0, kept_values, records)
    assert seen([0] * records, value.tolist(), kept.tolist()) is None
