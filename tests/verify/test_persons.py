"""Where persons have several records, the verifier counts them: plain Python knows the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import models_oracle as models
from shoal.definition.model import Definition
from shoal.values import Verdict
from shoal.verify.judge import verify
from shoal.verify.sources import source_facts
from verify.anonymizer import HIERARCHIES, generalize, height
from verify.persons_oracle import Class, classes_of, pairs_of
from verify.rows import Cell, Row, definition, source

QI = ("age", "zip", "sex")
NAMES = ("id", *QI, "ill")
TOKEN = "?"
TREE = {"any": {"pain": ["ache", "burn"], "rest": ["cold"]}}
KINDS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "distinct": {"diversity": {"distinct": 2}},
    "entropy": {"diversity": {"entropy": 1.5}},
    "recursive": {"diversity": {"recursive": {"c": 3, "l": 2}}},
    "equal": {"closeness": {"t": 0.25}},
    "ordered": {"closeness": {"t": 0.25, "distance": "ordered"}},
    "hierarchical": {
        "closeness": {"t": 0.25, "distance": "hierarchical"},
        "hierarchy": {"tree": TREE},
    },
    "alpha": {"alpha": 0.6},
    "beta": {"likeness": 0.5},
    "enhanced": {"likeness": {"beta": 0.5, "enhanced": True}},
    "delta": {"disclosure": 0.5},
}


def judge_of(kind: str, domain: list[Cell]) -> models.Judge:
    """The judge of a demand, for values that are numbered as in the domain."""
    size, t = len(domain), Fraction(1, 4)
    pain = [0 if value in ("ache", "burn") else 1 if value == "cold" else 2 for value in domain]
    levels = [list(range(size)), pain, [0] * size]
    judges: dict[str, Callable[[], models.Judge]] = {
        "nothing": lambda: lambda values, table: True,
        "distinct": lambda: models.distinct(2),
        "entropy": lambda: models.entropy(1.5),
        "recursive": lambda: models.recursive(Fraction(3), 2),
        "equal": lambda: models.closeness(t, size, models.equal_distance),
        "ordered": lambda: models.closeness(t, size, models.ordered_distance),
        "hierarchical": lambda: models.closeness(t, size, models.tree_distance(levels)),
        "alpha": lambda: models.alpha(Fraction(3, 5)),
        "beta": lambda: models.beta(Fraction(1, 2), size, enhanced=False),
        "enhanced": lambda: models.beta(Fraction(1, 2), size, enhanced=True),
        "delta": lambda: models.delta(0.5, size),
    }
    return judges[kind]()


@dataclass(frozen=True)
class Visits:
    """A table of visits, what is demanded, and the levels and labels that are released."""

    rows: tuple[Row, ...]
    person: tuple[str, ...]
    levels: Mapping[str, int]
    k: int
    kind: str
    basic: bool
    mark: bool
    as_value: bool
    kept: frozenset[Row] = frozenset()

    def definition(self) -> Definition:
        attributes: dict[str, Any] = {
            name: {"role": "quasi-identifier", "hierarchy": HIERARCHIES[name]} for name in QI
        }
        return definition(
            attributes
            | {"id": {"role": "identifier"}, "ill": {"role": "sensitive", **KINDS[self.kind]}},
            k=self.k,
            person=list(self.person),
            suppression=len(self.rows),
            suppressed="mark" if self.mark else "drop",
            missing={
                "match": "basic" if self.basic else "extended",
                "values": [TOKEN],
                "sensitive": "value" if self.as_value else "none",
            },
        )

    @property
    def values(self) -> dict[str, set[str]]:
        """The distinct values of each quasi-identifier."""
        columns = {name: {seen(row)[NAMES.index(name)] for row in self.rows} for name in QI}
        return {name: {v for v in found if v is not None} for name, found in columns.items()}

    def labels(self, row: Row) -> Row | None:
        """The labels of a record; None where basic match removes it."""
        cells = seen(row)[1:4]
        if self.basic and None in cells:
            return None
        return tuple(
            generalize(name, cell, self.levels[name], self.values[name])
            for name, cell in zip(QI, cells, strict=True)
        )

    def whose(self, row: Row) -> Row:
        return tuple(seen(row)[NAMES.index(name)] for name in self.person)

    def classes(self) -> dict[Row, Class]:
        return classes_of(self.rows, self.labels, self.whose, lambda row: seen(row)[4])

    def release(self) -> list[Row]:
        """The released rows; a text that means missing stays in a sensitive column."""
        released: list[Row] = []
        for row in self.rows:
            labels = self.labels(row)
            if labels in self.kept:
                released.append((*(labels or ()), row[4]))
            elif self.mark and labels is not None:
                released.append((None, None, None, None))
        return released

    def shown(self) -> set[Row]:
        """The classes that can be seen: not one whose records all look like marked ones."""
        return {row[:3] for row in self.release() if not self.mark or any(row)}

    def failing(self) -> set[str]:
        """What plain Python says of the released classes: too few persons, too little diversity."""
        classes = self.classes()
        complete = [row for row in self.rows if self.labels(row) is not None]
        table = self._counted(pairs_of(complete, self.whose, lambda row: seen(row)[4]))
        domain = sorted(set(table), key=lambda value: (value is None, value or ""))
        judge, failing = judge_of(self.kind, domain), set()
        for label in self.shown():
            values = self._counted(classes[label].values())
            if not judge([domain.index(v) for v in values], [domain.index(v) for v in table]):
                failing.add("ill")
            if len(classes[label].persons) < self.k:
                failing.add("persons")
        return failing

    def _counted(self, values: list[Cell]) -> list[Cell]:
        return values if self.as_value else [value for value in values if value is not None]


def seen(row: Row) -> Row:
    return tuple(None if cell in (TOKEN, "") else cell for cell in row)


@st.composite
def visits(draw: st.DrawFn, kind: str | None = None) -> Visits:
    """Persons repeat within and across classes; some are missing."""
    places = st.tuples(
        st.sampled_from(["3", "7", "47", "60", None]),
        st.sampled_from(["123", "124", "200", TOKEN]),
        st.sampled_from(["f", "m", ""]),
    )
    where = draw(st.lists(places, min_size=1, max_size=4))
    visit = st.tuples(
        st.sampled_from(["p1", "p2", "p3", TOKEN, None]),
        st.sampled_from(where),
        st.sampled_from(["ache", "burn", "cold", TOKEN, None]),
    )
    drawn = draw(st.lists(visit, min_size=1, max_size=14))
    rows: list[Row] = [(who, *place, ill) for who, place, ill in drawn]
    rows += [("p1", "3", "123", "f", "ache"), ("p2", "47", "200", "m", "burn")]
    made = Visits(
        tuple(rows),
        draw(st.sampled_from([("id",), ("id", "zip")])),
        {},
        draw(st.integers(2, 3)),
        kind or draw(st.sampled_from(sorted(KINDS))),
        basic=draw(st.booleans()),
        mark=draw(st.booleans()),
        as_value=draw(st.booleans()),
    )
    levels = {name: draw(st.integers(0, height(name, made.values[name]))) for name in QI}
    made = replace(made, levels=levels)
    return replace(
        made, kept=frozenset(draw(st.sets(st.sampled_from(sorted(made.classes(), key=str)))))
    )


def judged(table: Visits, release: list[Row], rows: tuple[Row, ...] | None = None) -> Verdict:
    """The verdict on a release, held against the source."""
    model, original = table.definition(), source(NAMES, table.rows if rows is None else rows)
    facts = source_facts(model, original, table.values)
    return verify(
        model,
        source((*QI, "ill"), release),
        levels=table.levels,
        values=table.values,
        source=original,
        **facts,
    )


def failing(verdict: Verdict) -> set[str]:
    """The findings about persons that fail, `ill` for the demand on the sensitive attribute."""
    names = {finding.name for finding in verdict.failures}
    return {"ill" if name.endswith("of ill") else name for name in names} & {"ill", "persons"}


def said(verdict: Verdict) -> str:
    return next(finding.saw for finding in verdict.findings if finding.name == "persons")


@pytest.mark.slow
@settings(max_examples=300)
@given(visits())
def test_the_verifier_says_of_persons_what_plain_python_says(table: Visits) -> None:
    verdict = judged(table, table.release())
    assert failing(verdict) == table.failing()
    assert "not judged" not in said(verdict)
    shown = table.shown()
    if shown and "persons" not in failing(verdict):
        fewest = min(len(table.classes()[label].persons) for label in shown)
        number = f"{len(shown)} class{'es' * (len(shown) > 1)}"
        assert said(verdict) == f"{number}, the smallest of {fewest} persons; {table.k} demanded"


@pytest.mark.slow
@settings(max_examples=100)
@given(visits("distinct"), st.data())
def test_a_record_moved_to_another_class_is_caught(table: Visits, data: st.DataObject) -> None:
    release = table.release()
    shown = [at for at, row in enumerate(release) if any(row)]
    classes = sorted({release[at][:3] for at in shown}, key=str)
    assume(len(classes) > 1)
    at = data.draw(st.sampled_from(shown))
    other = data.draw(st.sampled_from([each for each in classes if each != release[at][:3]]))
    release[at] = (*other, release[at][3])
    verdict = judged(table, release)
    assert "not judged" in said(verdict)
    assert failing(verdict) == {"persons", "ill"}


@pytest.mark.slow
@settings(max_examples=50)
@given(visits("nothing"), st.data())
def test_a_class_under_labels_that_nobody_of_the_source_has_is_caught(
    table: Visits, data: st.DataObject
) -> None:
    release, shown = table.release(), sorted(table.shown(), key=str)
    assume(shown)
    label = data.draw(st.sampled_from(shown))
    renamed = [("[90,100)", *row[1:]) if row[:3] == label and any(row) else row for row in release]
    assert said(judged(table, renamed)).endswith("classes are not in the source")


@pytest.mark.slow
@settings(max_examples=100)
@given(visits("distinct"), st.data())
def test_a_record_added_or_left_out_is_caught(table: Visits, data: st.DataObject) -> None:
    release = table.release()
    shown = [at for at, row in enumerate(release) if any(row)]
    assume(shown)
    at = data.draw(st.sampled_from(shown))
    assume(sum(row[:3] == release[at][:3] for row in release) > 1)
    assert not judged(table, release[:at] + release[at + 1 :]).safe
    assert "not judged" in said(judged(table, [*release, release[at]]))
    assert "not judged" in said(judged(table, release[:at] + release[at + 1 :]))


@pytest.mark.slow
@settings(max_examples=100)
@given(visits("distinct"), st.data())
def test_a_sensitive_value_that_the_source_does_not_have_there_is_caught(
    table: Visits, data: st.DataObject
) -> None:
    release = table.release()
    shown = [at for at, row in enumerate(release) if any(row)]
    assume(shown)
    at = data.draw(st.sampled_from(shown))
    other = data.draw(st.sampled_from(["ache", "burn", "cold", "dizzy"]))
    assume(other != release[at][3])
    release[at] = (*release[at][:3], other)
    assert "classes have other values of 'ill'" in said(judged(table, release))


@pytest.mark.slow
@settings(max_examples=100)
@given(visits("nothing"))
def test_records_of_one_person_hide_nobody(table: Visits) -> None:
    """The same release of a source whose records are all of one person."""
    assume(table.shown())
    table = replace(table, person=("id",))
    same = tuple(("p1", *row[1:]) for row in table.rows)
    assert "persons" in failing(judged(table, table.release(), same))


VISITS: list[Row] = [
    *[("ann", "21", "123", "f", "ache"), ("ann", "21", "123", "f", "burn")],
    *[("bo", "22", "124", "f", "ache"), ("cy", "31", "123", "m", "cold")],
    *[("cy", "31", "123", "m", "ache"), ("cy", "31", "123", "m", "ache")],
]


def plain(**others: Any) -> Visits:
    levels = {"age": 1, "zip": 1, "sex": 0}
    table = Visits(tuple(VISITS), ("id",), levels, 2, "nothing", False, False, False)
    table = replace(table, **others)
    return table if table.kept else replace(table, kept=frozenset(table.classes()))


def test_a_class_of_one_person_is_named_with_its_persons() -> None:
    verdict = judged(plain(), plain().release())
    (finding,) = verdict.failures
    assert finding.name == "persons"
    assert finding.saw == (
        "1 of 2 classes have fewer than 2 persons: {age='[30,40)', zip='12*', sex='m'} has 1"
    )


def test_records_are_counted_besides_persons() -> None:
    verdict = judged(plain(), plain().release())
    records = next(finding for finding in verdict.findings if finding.name == "k-anonymity")
    assert records.saw == "2 classes, the smallest of 3 records; 2 demanded"


def test_without_the_source_nothing_about_persons_holds() -> None:
    table = plain(kind="distinct", kept=frozenset([("[20,30)", "12*", "f")]))
    model, release = table.definition(), source((*QI, "ill"), table.release())
    verdict = verify(model, release, records=len(VISITS), levels=table.levels)
    assert said(verdict).startswith("not judged: persons are counted in the source")
    assert failing(verdict) == {"persons", "ill"}
    assert judged(table, table.release()).safe


def test_without_levels_those_that_alone_fit_are_taken() -> None:
    table = plain(kept=frozenset([("[20,30)", "12*", "f")]))
    model, original = table.definition(), source(NAMES, table.rows)
    facts = source_facts(model, original, table.values)
    release = source((*QI, "ill"), table.release())
    known: dict[str, Any] = {"values": table.values, "source": original, **facts}
    assert verify(model, release, **known).safe
    flat = {"role": "quasi-identifier", "hierarchy": {"tree": {"f": {"f ": ["f"]}, "m": ["m"]}}}
    unclear = model.model_copy(
        update={
            "attributes": {**model.attributes, "sex": definition({"sex": flat}).attributes["sex"]}
        }
    )
    saw = said(verify(unclear, release, **known))
    assert saw == "not judged: the level of 'sex' is not known; give the result of the run"


def test_a_value_that_the_hierarchy_lacks_leaves_persons_unjudged() -> None:
    table = replace(plain(), rows=(*VISITS, ("di", "old", "123", "f", "ache")))
    saw = said(judged(table, []))
    assert saw == "not judged: 1 values of 'age' are not in its hierarchy"


@pytest.mark.parametrize("level", [5, 99])
def test_a_level_above_the_hierarchy_leaves_persons_unjudged(level: int) -> None:
    table = plain()
    verdict = judged(replace(table, levels={**table.levels, "zip": level}), [])
    assert said(verdict) == f"not judged: 'zip' has no level {level}"


@pytest.mark.parametrize("shown", [True, False])
def test_blank_records_of_a_kept_class_look_like_marked_ones(shown: bool) -> None:
    """Records without any value: they are in the class whose labels are all missing."""
    nobody: list[Row] = [("di", None, "?", "", "ache"), ("ed", None, "?", "", "")]
    nobody += [("di", None, "?", "", "cold"), ("ed", None, "?", "", "cold")]
    table = plain(rows=(*VISITS, *nobody), mark=True, kind="distinct")
    table = replace(table, kept=frozenset([(None, None, None)] if shown else []))
    verdict = judged(table, table.release())
    assert failing(verdict) == set()
    assert failing(judged(replace(table, k=3), table.release())) == (
        {"persons"} if shown else set()
    )
