"""What conditions select, and how far the columns may then be generalized."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import UserError
from shoal.mart.catalog import ColumnRef
from shoal.mart.conditions import parse_condition
from shoal.mart.read import catalog_from_mapping, request_from_mapping
from shoal.mart.selection import Domain, Selection, accepted, attribute, resolve

PT = {
    "role": "quasi-identifier",
    "hierarchy": {
        "tree": {"[1-2]": {"1": ["1a", "1b", "1c", "1mic", "1"], "2": ["2"]}, "[3-4]": ["3", "4"]}
    },
}
COLUMNS: dict[str, Any] = {
    "PT": PT,
    "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 20]}},
    "birth": {"role": "quasi-identifier", "hierarchy": {"date": ["year"]}},
    "Loc": {"role": "quasi-identifier"},
    "ward": "keep",
    "coarse": {"role": "quasi-identifier", "hierarchy": {"intervals": [10, 20]}, "from": 1},
}
AGES: dict[str | None, int] = {str(age): 5 for age in range(40, 80)}
VALUES: dict[str, dict[str | None, int]] = {
    "PT": {"1a": 3, "1b": 3, "1c": 9, "1mic": 1, "1": 4, "2": 5, "3": 2, "4": 2, None: 3},
    "age": {**AGES, None: 2},
    "birth": {"1950-02-01": 2, "1950-12-31": 2, "1961-05-05": 1},
    "Loc": {"Mamma": 50, "Colon": 40, "Coecum": 1},
    "ward": {"A": 4, "B": 4},
    "coarse": {**AGES},
}


class Whole:
    """The whole source, in memory."""

    catalog = catalog_from_mapping(
        {
            "mart": "small",
            "log": "log.jsonl",
            "person": {"source": "findings", "columns": ["id"]},
            "sources": {"findings": {"source": "findings.csv", "columns": COLUMNS}},
        }
    )

    def values(self, ref: ColumnRef) -> Mapping[str | None, int]:
        return VALUES[ref.column]


def selected(*conditions: Any) -> Selection:
    whole = Whole()
    request = request_from_mapping({"project": ["PT"], "select": list(conditions)})
    return resolve(whole.catalog, request.select, whole.values, shown=2)


def values_of(*conditions: Any) -> set[str | None]:
    (values,) = selected(*conditions).only.values()
    return set(values)


def limit_of(*conditions: Any) -> int:
    (limit,) = selected(*conditions).limits.values()
    return limit


def test_a_label_selects_all_values_below_it_and_limits_the_column_to_its_level() -> None:
    assert values_of("PT = 1") == {"1a", "1b", "1c", "1mic", "1"}
    assert limit_of("PT = 1") == 1
    assert values_of("PT = [1-2]") == {"1a", "1b", "1c", "1mic", "1", "2"}
    assert limit_of('PT = "[1-2]"') == 2


def test_a_text_that_is_value_and_label_is_the_label_and_the_result_says_so() -> None:
    (note,) = selected("PT = 1").notes
    assert "label of 5 values at level 1" in note
    assert "`PT == 1` means the value '1' alone" in note
    assert values_of("PT == 1") == {"1"}
    assert limit_of("PT == 1") == 0


def test_an_exact_value_limits_its_column_to_level_0() -> None:
    assert (values_of("PT = 1a"), limit_of("PT = 1a")) == ({"1a"}, 0)
    assert (values_of("PT = 2"), limit_of("PT = 2")) == ({"2"}, 0)
    assert (values_of("PT in [1a]"), limit_of("PT in [1a]")) == ({"1a"}, 0)
    assert selected("PT = 2").notes == ()


def test_several_values_are_limited_where_a_label_would_say_less() -> None:
    assert limit_of("PT in [1a, 1b]") == 0
    assert limit_of("PT in [1, 2]") == 2
    assert limit_of("PT in [1a, 3]") == 2
    assert limit_of({"PT": ["1", "2", "3", "4"]}) == 3


def test_order_compares_numbers_and_dates() -> None:
    assert values_of("age >= 43") == {str(age) for age in range(43, 80)}
    assert values_of("age < 43") == {"40", "41", "42"}
    assert values_of("age between 40 and 42") == {"40", "41", "42"}
    assert values_of("age between 39.5 and 41.0") == {"40", "41"}
    assert values_of("birth <= 1950-12-31") == {"1950-02-01", "1950-12-31"}
    assert limit_of("age >= 43") == 2
    assert limit_of("birth > 1950-12-30") == 1


def test_conditions_on_one_column_hold_together() -> None:
    assert values_of("age >= 50", "age < 60") == {str(age) for age in range(50, 60)}
    assert limit_of("age >= 50", "age < 60") == 1
    assert values_of("PT = 1", "PT != 1a") == {"1b", "1c", "1mic", "1"}
    assert limit_of("PT = 1", "PT != 1a") == 0


def test_other_values_than_one_leave_all_levels_below_the_top() -> None:
    assert values_of("PT != 1") == {"2", "3", "4"}
    assert limit_of("PT != 1") == 2
    assert limit_of("Loc != Mamma") == 0


def test_only_is_missing_selects_missing_values() -> None:
    assert values_of("PT is missing") == {None}
    assert limit_of("PT is missing") == 0
    assert None not in values_of("PT is not missing") | values_of("PT != 1") | values_of("age > 0")
    assert limit_of("PT is not missing") == 3


def test_a_column_without_levels_is_selected_by_its_values() -> None:
    found = selected("ward = A")
    assert set(found.only.values()) == {frozenset(["A"])}
    assert found.limits == {}


@pytest.mark.parametrize(
    ("condition", "code", "said"),
    [
        ("Loc = Mama", "unknown-value", "did you mean 'Mamma'?"),
        ("PT = 9", "unknown-value", "no value or label '9'"),
        ("PT == [1-2]", "unknown-value", "no value or label '[1-2]'"),
        ("ward = C", "unknown-value", "no value 'C'"),
        ("Loc > Colon", "no-order", "have no order"),
        ("age > old", "no-order", "'old' is no number"),
        ("birth < 3", "no-order", "'3' is no date"),
        ("coarse = 45", "selection-too-exact", "from level 1 on"),
        ("local = 1", "unknown-column", ""),
    ],
)
def test_what_cannot_be_selected_is_refused(condition: str, code: str, said: str) -> None:
    with pytest.raises(UserError) as refusal:
        selected(condition)
    assert refusal.value.code == code
    assert said in refusal.value.what


def test_rare_values_are_never_suggested() -> None:
    with pytest.raises(UserError) as refusal:
        selected("Loc = Coecun")
    assert "Coecum" not in str(refusal.value)


def test_rare_values_are_unknown_unless_the_catalog_lists_them() -> None:
    with pytest.raises(UserError) as refusal:
        selected("Loc = Coecum")
    assert refusal.value.code == "unknown-value"
    assert "or fewer than 2 records have it" in refusal.value.what
    assert values_of("PT = 1mic") == {"1mic"}


def test_a_selection_may_say_as_much_as_the_lowest_level_that_is_released() -> None:
    assert limit_of("coarse >= 50", "coarse < 60") == 1


def test_others_can_ask_for_an_attribute_and_for_the_values_of_one_condition() -> None:
    age = attribute(Whole(), ColumnRef("findings", "age"))
    assert set(age.hierarchy.labels[0]) == set(AGES)
    ref, values = accepted(Whole(), parse_condition("PT = 1"))
    assert ref.column == "PT"
    assert values == {"1a", "1b", "1c", "1mic", "1"}


@given(st.sets(st.sampled_from(sorted(set(VALUES["PT"]) - {None}, key=str)), min_size=1))
@settings(max_examples=100, deadline=None)
def test_the_limit_is_the_highest_level_without_a_label_that_says_less(chosen: set[str]) -> None:
    whole = Whole()
    column = whole.catalog.column(ColumnRef("findings", "PT"))
    domain = Domain.of("PT", column, VALUES["PT"])
    assert domain.hierarchy is not None
    rows = list(domain.hierarchy.rows())
    levels = range(domain.hierarchy.height + 1)
    says_less = [
        any(
            chosen < {row[0] for row in rows if row[level] == label}
            for label in {row[level] for row in rows}
        )
        for level in levels
    ]
    limit = domain.limit(frozenset(chosen))
    assert limit == max(level for level in levels if not says_less[level])
    assert list(itertools.accumulate(says_less, max)) == says_less
