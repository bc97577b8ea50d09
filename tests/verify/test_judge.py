"""The verifier says yes to a safe release and no to every mutation of it."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.values import Verdict
from shoal.verify.judge import verify
from shoal.verify.sources import source_facts
from verify.anonymizer import NAMES, Released, released, steps
from verify.rows import Row, definition, source

PATIENT = settings(max_examples=60)
KNOWS = st.fixed_dictionaries({"levels": st.booleans(), "values": st.booleans()})


def judged(
    safe: Released, rows: tuple[Row, ...], know: dict[str, bool], names: tuple[str, ...] = NAMES
) -> Verdict:
    return verify(
        safe.definition(),
        source(names, rows),
        records=len(safe.rows),
        removed=safe.removed,
        levels=safe.levels if know["levels"] else None,
        values=safe.values if know["values"] else None,
    )


def failing(verdict: Verdict) -> set[str]:
    return {finding.name for finding in verdict.failures}


def put(rows: tuple[Row, ...], at: int, place: int, cell: str | None) -> tuple[Row, ...]:
    row = rows[at]
    return (*rows[:at], (*row[:place], cell, *row[place + 1 :]), *rows[at + 1 :])


@pytest.mark.slow
@PATIENT
@given(released(), KNOWS)
def test_a_safe_release_is_called_safe_and_counted_right(
    safe: Released, know: dict[str, bool]
) -> None:
    verdict = judged(safe, safe.release, know)
    assert verdict.failures == ()
    sizes = Counter(safe.release).values()
    assert (verdict.records, verdict.classes) == (len(safe.release), len(sizes))
    assert verdict.smallest_class == min(sizes)


@pytest.mark.slow
@PATIENT
@given(released(), KNOWS, st.data())
def test_a_value_at_another_level_is_caught(
    safe: Released, know: dict[str, bool], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(safe.release) - 1))
    place = data.draw(st.integers(0, len(NAMES) - 1))
    name = NAMES[place]
    labels = [steps(name, value) for value in sorted(safe.values[name])]
    here = {label[safe.levels[name]] for label in labels}
    others = sorted({label for each in labels for label in each} - here)
    assume(safe.release[at][place] is not None and others)
    label = data.draw(st.sampled_from(others))
    know = know | {"values": True} if label == "***" else know  # else a short zip may be masked
    mutated = put(safe.release, at, place, label)
    assert f"level of {name}" in failing(judged(safe, mutated, know | {"levels": True}))
    assert not judged(safe, mutated, know).safe


@pytest.mark.slow
@PATIENT
@given(released(), KNOWS, st.data())
def test_a_missing_value_in_place_of_the_top_is_caught(
    safe: Released, know: dict[str, bool], data: st.DataObject
) -> None:
    tops = [name for name in NAMES if safe.is_top(name)]
    assume(tops)
    name = data.draw(st.sampled_from(tops))
    know = know | {"values": True} if name == "age" else know
    at = data.draw(st.integers(0, len(safe.release) - 1))
    mutated = put(safe.release, at, NAMES.index(name), None)
    assert f"level of {name}" in failing(judged(safe, mutated, know | {"levels": True}))


@pytest.mark.slow
@PATIENT
@given(released(), KNOWS)
def test_a_row_taken_from_a_class_of_k_is_caught(safe: Released, know: dict[str, bool]) -> None:
    at = _row_of_smallest(safe)
    verdict = judged(safe, safe.release[:at] + safe.release[at + 1 :], know)
    assert {"suppression", "k-anonymity"} <= failing(verdict)


@pytest.mark.slow
@PATIENT
@given(released(), KNOWS)
def test_a_row_replaced_by_a_copy_of_another_is_caught(
    safe: Released, know: dict[str, bool]
) -> None:
    at = _row_of_smallest(safe)
    other = next((row for row in safe.release if row != safe.release[at]), None)
    assume(other is not None)
    rows = (*safe.release[:at], other, *safe.release[at + 1 :])
    assert "k-anonymity" in failing(judged(safe, rows, know))  # type: ignore[arg-type]


@pytest.mark.slow
@PATIENT
@given(released(), KNOWS)
def test_a_class_left_out_is_more_suppression_than_allowed(
    safe: Released, know: dict[str, bool]
) -> None:
    gone = safe.release[0]
    rows = tuple(row for row in safe.release if row != gone)
    assert "suppression" in failing(judged(safe, rows, know))


@pytest.mark.slow
@PATIENT
@given(released(), KNOWS)
def test_more_records_than_the_source_has_are_caught(safe: Released, know: dict[str, bool]) -> None:
    rows = safe.release + safe.release[:1] * (safe.suppressed + 1)
    assert failing(judged(safe, rows, know)) == {"suppression"}


@pytest.mark.slow
@PATIENT
@given(released(), KNOWS, st.sampled_from(NAMES), st.sampled_from(["note", "id", "Age", ""]))
def test_a_column_added_removed_or_renamed_is_caught(
    safe: Released, know: dict[str, bool], name: str, new: str
) -> None:
    added = tuple((*row, "x") for row in safe.release)
    assert failing(judged(safe, added, know, (*NAMES, new))) == {"columns"}
    assert "columns" in failing(judged(safe, added, know, (*NAMES, name)))
    place = NAMES.index(name)
    renamed = (*NAMES[:place], new, *NAMES[place + 1 :])
    assert "columns" in failing(judged(safe, safe.release, know, renamed))
    removed = tuple(row[:place] + row[place + 1 :] for row in safe.release)
    fewer = NAMES[:place] + NAMES[place + 1 :]
    assert "columns" in failing(judged(safe, removed, know, fewer))


@pytest.mark.slow
@PATIENT
@given(released(), st.sampled_from(NAMES), st.sampled_from([-1, 1]))
def test_a_wrong_statement_of_the_level_is_caught(safe: Released, name: str, by: int) -> None:
    place = NAMES.index(name)
    assume(any(row[place] is not None for row in safe.release))
    stated = safe.levels | {name: safe.levels[name] + by}
    values = sorted(safe.values[name])
    there = {
        steps(name, v)[stated[name]] for v in values if 0 <= stated[name] < len(steps(name, v))
    }
    assume(not {row[place] for row in safe.release} - {None} <= there)
    verdict = verify(
        safe.definition(),
        source(NAMES, safe.release),
        records=len(safe.rows),
        removed=safe.removed,
        levels=stated,
        values=safe.values,
    )
    assert f"level of {name}" in failing(verdict)


def _row_of_smallest(safe: Released) -> int:
    sizes = Counter(safe.release)
    return safe.release.index(min(sizes, key=lambda row: sizes[row]))


CITY = {"role": "quasi-identifier", "hierarchy": "suppress"}
TWO = definition({"city": CITY, "pay": {"role": "keep"}}, k=3)


def one(rows: list[str | None], records: int | None, model: Any = TWO, **known: Any) -> Verdict:
    """The verdict on a release with a city and a pay."""
    table = source(["city", "pay"], [(city, "1") for city in rows])
    return verify(model, table, records=records, **known)


def test_failing_classes_are_named_by_their_labels_and_sizes_smallest_first() -> None:
    verdict = one(["rome", None, None, "oslo", "oslo", "oslo"], 6)
    (finding,) = verdict.failures
    assert finding.saw == (
        "2 of 3 classes have fewer than 3 records: {city='rome'} has 1; {city=missing} has 2"
    )


def test_no_more_than_ten_failing_classes_are_named() -> None:
    verdict = one([f"town {i:02}" for i in range(13)], 13)
    assert verdict.failures[0].saw.count("has 1") == 10
    assert verdict.failures[0].saw.endswith("and 3 more")


def test_a_label_that_does_not_fit_is_counted_but_not_shown() -> None:
    verdict = one(["secret", "*", "*", "*", "secret", "secret"], 6, levels={"city": 1})
    (finding,) = verdict.failures
    assert finding.saw == "1 label (3 records) not at level 1"


def test_basic_match_allows_no_missing_quasi_identifier() -> None:
    model = TWO.model_copy(update={"missing": TWO.missing.model_copy(update={"match": "basic"})})
    assert failing(one([None] * 3 + ["rome"] * 3, 6, model)) == {"missing values"}
    assert one(["rome"] * 3, 5, model, removed=2).safe


def test_records_are_removed_under_basic_match_only() -> None:
    assert failing(one(["rome"] * 3, 5, removed=2)) == {"suppression"}


def test_the_suppression_limit_refers_to_the_records_that_remain() -> None:
    model = definition(
        {"city": CITY, "pay": {"role": "keep"}}, k=3, suppression="50%", missing={"match": "basic"}
    )
    assert one(["rome"] * 3, 8, model, removed=2).safe
    assert failing(one(["rome"] * 3, 8, model, removed=1)) == {"suppression"}


def test_an_empty_release_fails_unless_all_records_may_be_suppressed() -> None:
    assert failing(one([], 4)) == {"suppression"}
    assert failing(one([], None)) == {"suppression"}
    everything = TWO.model_copy(update={"suppression": 4})
    assert one([], 4, everything).safe
    assert one([], 4, everything).smallest_class == 0


def test_without_the_number_of_records_the_finding_says_it_was_not_judged() -> None:
    verdict = one(["rome"] * 3, None)
    assert verdict.safe
    assert verdict.findings[-1].saw.startswith("not judged")


def test_marked_rows_form_no_class_and_count_as_suppressed() -> None:
    model = TWO.model_copy(update={"suppressed": "mark", "suppression": 2})
    marked: list[str | None] = [None, None]
    assert one(marked + ["rome"] * 3, 5, model).records == 3
    assert one(marked + ["rome"] * 3, 5, model).safe
    assert failing(one([*marked, None, *["rome"] * 3], 6, model)) == {"suppression"}
    assert failing(one([*marked, None, *["rome"] * 3], 6, model, blank=1)) == {"suppression"}
    assert failing(one(marked + ["rome"] * 3, 6, model)) == {"suppression"}


def test_blank_records_of_the_source_count_as_suppressed_unless_they_could_be_a_class() -> None:
    """A class of them looks like marked rows, but one with fewer than k was suppressed too."""
    model = TWO.model_copy(update={"suppressed": "mark", "suppression": 1})
    rows = [None, None, None, None, "rome", "rome", "rome"]
    assert one(rows, 7, model, blank=3).safe
    assert failing(one(rows, 7, model, blank=2)) == {"suppression"}
    assert failing(one([None, *rows], 8, model, blank=3)) == {"suppression"}
    ill = {"role": "sensitive", "diversity": {"distinct": 2}}
    diverse = definition({"city": CITY, "ill": ill}, suppressed="mark", suppression=1, k=3)
    kept = [("rome", "flu"), ("rome", "cold"), ("rome", "flu")]
    table = source(["city", "ill"], [*kept, *[(None, None)] * 4])
    assert failing(verify(diverse, table, records=7, blank=3)) == {"suppression"}
    as_value = diverse.model_copy(
        update={"missing": diverse.missing.model_copy(update={"sensitive": "value"})}
    )
    assert failing(verify(as_value, table, records=7, blank=3)) == {"suppression"}


def test_a_marked_row_must_be_blank_in_its_sensitive_values_too() -> None:
    model = definition(
        {"city": CITY, "ill": {"role": "sensitive", "diversity": {"distinct": 2}}},
        suppressed="mark",
        suppression=1,
    )
    table = source(["city", "ill"], [("rome", "flu"), ("rome", "flu"), (None, "flu"), (None, None)])
    verdict = verify(model, table, records=4)
    assert {"k-anonymity", "distinct-diversity of ill"} == failing(verdict)
    assert verdict.records == 3


def test_blank_records_of_the_source_are_in_the_class_of_the_others_without_a_label() -> None:
    ill = {"role": "sensitive", "diversity": {"distinct": 2}}
    model = definition({"city": CITY, "ill": ill}, suppressed="mark", suppression=1, k=4)
    kept = [(None, "flu"), (None, "cold"), (None, None), (None, None)]
    table = source(["city", "ill"], [*kept, (None, None)])
    verdict = verify(model, table, records=5, blank=2)
    assert verdict.safe
    assert (verdict.records, verdict.smallest_class) == (4, 4)
    assert failing(verify(model, table, records=5, blank=1)) == {"k-anonymity", "suppression"}
    only_marked = source(["city", "ill"], [(None, None)] * 3)
    assert failing(verify(model, only_marked, records=3, blank=1)) == {"suppression"}


def test_a_level_above_the_limit_of_the_definition_is_caught() -> None:
    model = definition({"city": CITY | {"limit": 0}, "pay": {"role": "keep"}})
    assert failing(one(["*"] * 3, 3, model, levels={"city": 1})) == {"level of city"}
    assert failing(one(["*"] * 3, 3, model)) == {"level of city"}
    assert one(["rome"] * 3, 3, model, levels={"city": 0}).safe


@pytest.mark.parametrize("levels", [{}, {"city": 0, "pay": 1}])
def test_levels_must_be_stated_for_exactly_the_quasi_identifiers(levels: dict[str, int]) -> None:
    assert failing(one(["rome"] * 3, 3, levels=levels)) == {"levels"}


def test_a_quasi_identifier_without_a_hierarchy_is_said_to_be_unjudged() -> None:
    model = definition({"city": {"role": "quasi-identifier"}, "pay": {"role": "keep"}})
    assert one(["rome"] * 3, 3, model).findings[1].saw.startswith("not judged")


def test_columns_are_in_the_order_of_the_definition_or_the_source() -> None:
    table = source(["pay", "city"], [("1", "rome")] * 3)
    assert verify(TWO, table, records=3).safe
    assert verify(TWO, table, records=3, columns=["pay", "id", "city"]).safe
    assert failing(verify(TWO, table, records=3, columns=["city", "pay"])) == {"columns"}


def test_source_facts_are_counted_in_the_source() -> None:
    rows: list[Row] = [("rome", "1"), (None, "2"), ("?", None), ("", "?")]
    table = source(["city", "pay"], rows)
    attributes = {"city": CITY, "pay": {"role": "sensitive", "diversity": {"distinct": 2}}}
    values = {"values": ["?"]}
    kept = definition(attributes, missing=values)
    pay = {"pay": {"1": 1, "2": 1, None: 2}}
    expected = {"records": 4, "removed": 0, "blank": 0, "reference": pay}
    assert source_facts(kept, table, {"city": ["rome"]}) == expected
    basic = definition(attributes, missing=values | {"match": "basic"})
    complete = {"removed": 3, "reference": {"pay": {"1": 1}}}
    assert source_facts(basic, table, {"city": ["rome"]}) == expected | complete
    marked = definition(attributes, missing=values, suppressed="mark")
    assert source_facts(marked, table, {"city": ["rome"]}) == expected | {"blank": 1}


@pytest.mark.slow
def test_the_verifier_loads_nothing_that_makes_releases() -> None:
    code = (
        "import sys, shoal.verify.judge, shoal.measure.table, shoal.verify.file\n"
        "makers = ('encode', 'search', 'release', 'pipeline')\n"
        "print([m for m in sys.modules if m.startswith(tuple('shoal.' + x for x in makers))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
