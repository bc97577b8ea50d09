"""Guesses for `shoal init`: the role of each column, and a definition that can be read."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.definition.draft import (
    MOST_NODES,
    Draft,
    Guess,
    Profile,
    guess,
    guess_all,
    missing_tokens,
    profile,
    write_draft,
)
from shoal.definition.model import Dates, Diversity, Hierarchy, Intervals, Mask, Suppress
from shoal.definition.parse import parse_yaml
from shoal.definition.read import from_mapping

NUMBERS = Intervals(intervals=(5, 10))


def suppress(values: Sequence[str]) -> Hierarchy | None:
    return Suppress()


def column(name: str, distinct: int, records: int = 1000, pattern: str = "v{}") -> Profile:
    return Profile(name, tuple(pattern.format(i) for i in range(distinct)), records, 0)


def role(found: Profile, hierarchy: Hierarchy | None = None) -> str:
    return guess(found, hierarchy or Suppress()).attribute.role


@pytest.mark.parametrize(
    ("found", "hierarchy", "expected"),
    [
        (column("e-mail", 3), Suppress(), "identifier"),
        (column("PatientID", 1000), Suppress(), "identifier"),
        (column("last_name", 400), Suppress(), "identifier"),
        (column("xyz", 990), Suppress(), "identifier"),
        (column("region_id", 5), Suppress(), "quasi-identifier"),
        (column("ZIP", 300), Mask(mask=(1, 2)), "quasi-identifier"),
        (column("Age", 80), NUMBERS, "quasi-identifier"),
        (column("seen_on", 900), Dates(date=("year",)), "quasi-identifier"),
        (column("q7", 4), Suppress(), "quasi-identifier"),
        (column("q8", 200), Suppress(), "quasi-identifier"),
        (column("Diagnosis", 30), Suppress(), "sensitive"),
        (column("salary-class", 2), Suppress(), "sensitive"),
        (column("diagnosis", 1), Suppress(), "keep"),
        (column("bilirubin", 900, pattern="{}.25"), NUMBERS, "keep"),
        (column("amount", 990, pattern="{}.25"), NUMBERS, "drop"),
        (column("amount", 15, records=15, pattern="{}.25"), NUMBERS, "keep"),
        (column("steps", 600), NUMBERS, "keep"),
        (
            column("notes", 950, pattern="patient {} came in the night and felt better"),
            None,
            "drop",
        ),
        (column("unused", 0), Suppress(), "drop"),
    ],
)
def test_a_column_gets_the_role_that_its_name_and_values_suggest(
    found: Profile, hierarchy: Hierarchy, expected: str
) -> None:
    assert role(found, hierarchy) == expected


def test_a_sensitive_column_demands_diversity_of_its_values() -> None:
    income = column("income", 12)
    assert guess(income, None).attribute.diversity == Diversity(distinct=3)


def test_one_column_is_a_quasi_identifier_even_if_none_looks_like_one() -> None:
    guesses = guess_all([column("email", 100), column("steps", 99)], lambda _: NUMBERS)
    assert [found.attribute.role for found in guesses] == ["identifier", "quasi-identifier"]
    (only,) = guess_all([column("email", 100)], suppress)
    assert only.attribute.role == "quasi-identifier"


def test_quasi_identifiers_known_by_name_are_kept_when_there_are_too_many() -> None:
    columns = [*(column(f"q{i}", 3) for i in range(40)), column("sex", 2)]
    guesses = guess_all(columns, suppress)
    chosen = [found for found in guesses if found.attribute.role == "quasi-identifier"]
    nodes = 1
    for found in chosen:
        assert found.attribute.hierarchy is not None
        nodes *= (found.attribute.hierarchy.heights or (0, 0))[1] + 1
    assert nodes <= MOST_NODES
    assert "sex" in [found.profile.name for found in chosen]
    assert all(found.attribute.role in ("quasi-identifier", "drop") for found in guesses)


def test_usual_texts_for_missing_values_are_counted_as_missing() -> None:
    counts: dict[str, dict[str | None, int]] = {"a": {"?": 2, "1": 3, None: 1}, "b": {"x": 6}}
    assert missing_tokens(counts) == ("?",)
    assert profile("a", counts["a"], ("?",)) == Profile("a", ("1",), 6, 3)


def written(guesses: Sequence[Guess]) -> str:
    return write_draft(Draft("x.csv", "x-release.csv", 5, ("?",)), guesses)


def test_no_value_of_the_data_is_written() -> None:
    guesses = guess_all([column("sex", 3, pattern="secret{}")], suppress)
    assert "secret" not in written(guesses)
    assert "# 3 distinct values, 0 missing." in written(guesses)


@pytest.mark.slow
@settings(max_examples=100)
@given(
    st.lists(
        st.builds(
            Profile,
            st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
            | st.sampled_from(["age", "name", "income", "no", "a: b", "# c"]),
            st.lists(st.text(max_size=50), max_size=8, unique=True).map(tuple),
            st.integers(8, 1000),
            st.just(0),
        ),
        min_size=1,
        max_size=8,
        unique_by=lambda found: found.name,
    )
)
def test_every_draft_can_be_read_and_names_every_column(profiles: list[Profile]) -> None:
    text = written(guess_all(profiles, suppress))
    definition = from_mapping(parse_yaml(text).data)
    assert list(definition.attributes) == [found.name for found in profiles]
    assert definition.quasi_identifiers
