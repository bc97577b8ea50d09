"""The persons of a local release, counted by a list of tuples and labels that is not trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from shoal.definition.model import Definition
from shoal.engines.base import Generalization
from shoal.values import Verdict
from shoal.verify.assignment import Assignment
from shoal.verify.judge import verify
from shoal.verify.sources import source_facts
from verify.anonymizer import generalize, height
from verify.rows import Row, source
from verify.test_persons import NAMES, QI, VISITS, Visits, failing, said, seen, visits

Listed = dict[Row, Row]


@dataclass(frozen=True)
class LocalVisits(Visits):
    """Visits whose tuples have levels of their own."""

    levels_of: Mapping[Row, Mapping[str, int]] | None = None

    def definition(self) -> Definition:
        return super().definition().model_copy(update={"recoding": "local"})

    def labels(self, row: Row) -> Row | None:
        cells = seen(row)[1:4]
        if self.basic and None in cells:
            return None
        levels = (self.levels_of or {})[cells]
        return tuple(
            generalize(name, cell, levels[name], self.values[name])
            for name, cell in zip(QI, cells, strict=True)
        )

    def listed(self) -> Listed:
        """The tuples of the kept classes with their labels."""
        pairs = {seen(row)[1:4]: self.labels(row) for row in self.rows}
        return {cells: labels for cells, labels in pairs.items() if labels in self.kept and labels}


@st.composite
def local_visits(draw: st.DrawFn, kind: str | None = None) -> LocalVisits:
    """Visits with random levels of each tuple."""
    plain = draw(visits(kind))
    tuples = sorted({seen(row)[1:4] for row in plain.rows}, key=str)
    heights = {name: height(name, plain.values[name]) for name in QI}
    levels = {each: {n: draw(st.integers(0, heights[n])) for n in QI} for each in tuples}
    made = LocalVisits(**{**vars(plain), "levels_of": levels, "kept": frozenset()})
    classes = sorted(made.classes(), key=str)
    return replace(
        made, kept=frozenset(draw(st.sets(st.sampled_from(classes)))) if classes else made.kept
    )


def table_of(rows: list[Row]) -> pa.Table:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(QI)}
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})


def assigned(listed: Mapping[Row, Row], **others: Any) -> Assignment:
    return Assignment(table_of(list(listed)), table_of(list(listed.values())), **others)


def judged(table: LocalVisits, release: list[Row], stated: Assignment | None) -> Verdict:
    model, original = table.definition(), source(NAMES, table.rows)
    return verify(
        model,
        source((*QI, "ill"), release),
        values=table.values,
        source=original,
        assignment=stated,
        **source_facts(model, original, table.values),
    )


@pytest.mark.slow
@settings(max_examples=300)
@given(local_visits())
def test_the_verifier_says_of_persons_what_plain_python_says(table: LocalVisits) -> None:
    verdict = judged(table, table.release(), assigned(table.listed()))
    assert "not judged" not in said(verdict)
    assert failing(verdict) == table.failing()


@pytest.mark.slow
@settings(max_examples=100)
@given(local_visits("distinct"), st.data())
def test_a_record_moved_to_another_class_is_refused(
    table: LocalVisits, data: st.DataObject
) -> None:
    release = table.release()
    shown = [at for at, row in enumerate(release) if any(row)]
    classes = sorted({release[at][:3] for at in shown}, key=str)
    assume(len(classes) > 1)
    at = data.draw(st.sampled_from(shown))
    other = data.draw(st.sampled_from([each for each in classes if each != release[at][:3]]))
    release[at] = (*other, release[at][3])
    verdict = judged(table, release, assigned(table.listed()))
    assert "not judged" in said(verdict)
    assert failing(verdict) == {"persons", "ill"}


@pytest.mark.slow
@settings(max_examples=100)
@given(local_visits("distinct"), st.data())
def test_a_list_without_one_of_the_tuples_is_refused(
    table: LocalVisits, data: st.DataObject
) -> None:
    listed = table.listed()
    whole = {each for each in listed if not table.mark or any(listed[each])}
    assume(whole)
    del listed[data.draw(st.sampled_from(sorted(whole, key=str)))]
    assert "not judged" in said(judged(table, table.release(), assigned(listed)))


def plain(**others: Any) -> LocalVisits:
    """Ann and Bo under 12*, three visits of Cy and one of Di as they are."""
    rows = (*VISITS, ("di", "31", "123", "m", "ache"), ("ed", "31", "200", "m", "ache"))
    up, down = {"age": 1, "zip": 1, "sex": 0}, {"age": 0, "zip": 0, "sex": 0}
    levels = {seen(row)[1:4]: up if row[3] == "f" else down for row in rows}
    table = LocalVisits(rows, ("id",), {}, 2, "nothing", False, False, False, levels_of=levels)
    table = replace(table, **others)
    kept = {("[20,30)", "12*", "f"), ("31", "123", "m")}
    return replace(table, kept=frozenset(kept))


def test_a_local_release_is_judged_by_persons() -> None:
    verdict = judged(plain(), plain().release(), assigned(plain().listed()))
    assert verdict.safe
    assert said(verdict) == "2 classes, the smallest of 2 persons; 2 demanded"


def test_without_a_list_persons_are_not_judged() -> None:
    assert "not judged" in said(judged(plain(), plain().release(), None))


ANN, BO, CY = ("21", "123", "f"), ("22", "124", "f"), ("31", "123", "m")
TOGETHER = ("[20,30)", "12*", "f")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({ANN: CY, CY: TOGETHER}, "'age' that their values never get"),
        ({ANN: ("[30,40)", "12*", "f")}, "1 labels of 'age' that their values never get"),
        ({ANN: ("21", "123", None)}, "1 labels of 'sex' that their values never get"),
        ({("22", "200", "f"): ("22", "200", "f")}, ""),
        ({("31", "200", "m"): ("31", "200", "m")}, "1 classes that are not in the release"),
        ({("31", "200", "m"): ("31", "***", "m")}, "1 classes that are not in the release"),
        ({ANN: ("[20,30)", "123", "f")}, "1 of 2 classes have other numbers of records"),
        ({CY: ("[30,40)", "123", "m")}, "1 of 2 classes are not in the source"),
    ],
)
def test_a_wrong_list_is_refused(change: Listed, expected: str) -> None:
    """Only a tuple that is not in the source may be listed beside: it changes nothing."""
    listed = {**plain().listed(), **change}
    verdict = judged(plain(), plain().release(), assigned(listed))
    assert verdict.safe == (not expected)
    assert expected in said(verdict)


def test_a_list_that_is_no_list_is_refused() -> None:
    good = assigned(plain().listed())
    twice = Assignment(*(pa.concat_tables([each] * 2) for each in (good.tuples, good.labels)))
    assert "a tuple twice" in said(judged(plain(), plain().release(), twice))
    shorter = Assignment(good.tuples, good.labels.slice(1))
    assert "tuples without labels" in said(judged(plain(), plain().release(), shorter))
    other = Assignment(good.tuples.select(["zip", "age", "sex"]), good.labels)
    assert "other columns" in said(judged(plain(), plain().release(), other))


def test_labels_above_the_limit_are_refused() -> None:
    table = plain()
    model = table.definition()
    age = model.attributes["age"].model_copy(update={"limit": 0})
    strict = model.model_copy(update={"attributes": {**model.attributes, "age": age}})
    original = source(NAMES, table.rows)
    verdict = verify(
        strict,
        source((*QI, "ill"), table.release()),
        values=table.values,
        source=original,
        assignment=assigned(table.listed()),
        **source_facts(strict, original, table.values),
    )
    assert "labels of 'age' that their values never get" in said(verdict)


def test_values_may_be_listed_together_only_where_all_of_them_have_the_label() -> None:
    """Ages 21 and 22 are listed as 21: they have one label from level 1 on, but not 31."""
    table, listed = (
        plain(),
        {("21", *cells[1:]): t for cells, t in plain().listed().items() if t == TOGETHER},
    )
    listed |= {CY: CY}
    ages = Generalization(("21", "22", "31"), ("21", "21", "31"))
    good = assigned(listed, joined={"age": ages})
    assert judged(table, table.release(), good).safe
    wrong = Generalization(("21", "22", "31"), ("21", "21", "21"))
    listed = {("21", *cells[1:]): label for cells, label in listed.items()}
    verdict = judged(table, table.release(), assigned(listed, joined={"age": wrong}))
    assert "2 labels of 'age' that their values never get" in said(verdict)
