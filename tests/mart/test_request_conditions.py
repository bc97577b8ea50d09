"""Conditions of a selection: texts and mappings, and back to text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.definition.scalars import Wrong
from shoal.mart.conditions import COMPARISONS, Condition, conditions_of, parse_condition
from shoal.mart.read import request_from_mapping


@pytest.mark.parametrize(
    ("text", "column", "operator", "values"),
    [
        ("PT = 1", "PT", "=", ("1",)),
        ("PT==1a", "PT", "==", ("1a",)),
        ("findings.PT != 1", "findings.PT", "!=", ("1",)),
        ("PT <> 1", "PT", "!=", ("1",)),
        ("age>=43", "age", ">=", ("43",)),
        ("age < 43", "age", "<", ("43",)),
        ("birth <= 1950-01-01", "birth", "<=", ("1950-01-01",)),
        ("age > 43", "age", ">", ("43",)),
        ("age between 40 and 60", "age", "between", ("40", "60")),
        ('town between "A and B" and C', "town", "between", ("A and B", "C")),
        ("Loc in [Mamma, Colon]", "Loc", "in", ("Mamma", "Colon")),
        ("Loc IN (Mamma)", "Loc", "in", ("Mamma",)),
        ('PT in [[1-2], "a, b"]', "PT", "in", ("[1-2]", "a, b")),
        ("PT = [1-2]", "PT", "=", ("[1-2]",)),
        ("cause of death = Colon, unspecified", "cause of death", "=", ("Colon, unspecified",)),
        ('"day in week" = "a = b"', "day in week", "=", ("a = b",)),
        ("`in` = 'it''s'", "in", "=", ("it's",)),
        ("death is missing", "death", "missing", ()),
        ("death is  not missing", "death", "present", ()),
        ("name = is", "name", "=", ("is",)),
        ('name = ""', "name", "=", ("",)),
    ],
)
def test_a_text_is_a_condition(
    text: str, column: str, operator: str, values: tuple[str, ...]
) -> None:
    condition = parse_condition(text)
    assert (condition.column, condition.operator, condition.values) == (column, operator, values)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("PT", "has no operator"),
        ("", "has no operator"),
        ("= 1", "lacks a column"),
        ("PT =", "lacks a value"),
        ("PT = 1 and PN = 2", "has two operators"),
        ("PT in Mamma", "has no list"),
        ("PT in []", "lacks a value"),
        ("PT in [1,,2]", "lacks a value"),
        ("age between 40", "does not say two values"),
        ("age between 1 and 2 and 3", "does not say two values"),
        ("death is missing today", "has more after"),
        ('PT = "1', "has a quote that does not end"),
    ],
)
def test_any_other_text_is_refused(text: str, what: str) -> None:
    with pytest.raises(Wrong, match=what):
        parse_condition(text)


@pytest.mark.parametrize(
    ("select", "texts"),
    [
        (None, []),
        ("PT = 1", ["PT = 1"]),
        (["PT = 1", {"Loc": "Mamma"}], ["PT = 1", "Loc = Mamma"]),
        ({"Loc": "Mamma", "PN": ["1a", "1b"]}, ["Loc = Mamma", "PN in [1a, 1b]"]),
        ({"age": {">=": 40, "<": "60"}}, ["age >= 40", "age < 60"]),
        ({"age": {"between": ["40", "60"]}}, ["age between 40 and 60"]),
        ({"death": {"is": "missing"}}, ["death is missing"]),
        ({"death": {"is": "not missing"}}, ["death is not missing"]),
    ],
)
def test_a_selection_is_a_list_or_a_mapping(select: Any, texts: list[str]) -> None:
    request = request_from_mapping({"project": ["PT"], "select": select})
    assert [str(condition) for condition in request.select] == texts


@pytest.mark.parametrize("select", [7, [7], {"death": None}, {"death": {"is": "gone"}}])
def test_any_other_selection_is_refused(select: Any) -> None:
    with pytest.raises(Wrong):
        conditions_of(select)


CONDITIONS = st.one_of(
    st.builds(
        Condition,
        column=st.text(min_size=1),
        operator=st.sampled_from(COMPARISONS),
        values=st.tuples(st.text()),
    ),
    st.builds(
        Condition,
        column=st.text(min_size=1),
        operator=st.just("in"),
        values=st.lists(st.text(), min_size=1).map(tuple),
    ),
    st.builds(
        Condition,
        column=st.text(min_size=1),
        operator=st.just("between"),
        values=st.tuples(st.text(), st.text()),
    ),
    st.builds(
        Condition,
        column=st.text(min_size=1),
        operator=st.sampled_from(("missing", "present")),
    ),
)


@given(CONDITIONS)
def test_the_text_of_a_condition_parses_as_the_same_condition(condition: Condition) -> None:
    assert parse_condition(str(condition)) == condition
