"""Overlaps of releases are found exactly: plain Python over random marts and releases decides."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mart.overlap_oracle import (
    LADDER,
    Cell,
    Found,
    Record,
    ReleaseSpec,
    Row,
    Tables,
    join,
    overlaps_of_all,
    overlaps_of_two,
    recipe_of,
    small_cells_of_all,
    small_persons_of_all,
    value,
)
from mart.overlap_oracle import (
    views as oracle_views,
)
from shoal.engines.base import Generalization
from shoal.engines.duckdb.session import Session
from shoal.engines.options import Resources
from shoal.errors import BadData
from shoal.mart.applied import Applied, LinkedRows, release_rows
from shoal.mart.catalog import ColumnRef
from shoal.mart.cells import Cells, SmallCells
from shoal.mart.overlap import Comparison, Earlier, Overlap
from shoal.mart.recipe import JOINT

SOURCES = ("patient", "findings", "genes", "deaths")
COLUMNS = tuple(ColumnRef(source, name) for source in SOURCES for name in "xy")
VALUES = ("a", "c", "b", "d", None)
USED = (
    ("patient",),
    ("patient", "findings"),
    ("patient", "findings", "genes"),
    ("patient", "deaths"),
    ("patient", "findings", "deaths"),
    SOURCES,
)


def mart(seed: int) -> Tables:
    """Random tables; so many records that releases of them have rows."""
    chance = random.Random(seed)
    tables: dict[str, list[Record]] = {}
    for source in SOURCES:
        above = len(tables["findings" if source == "genes" else "patient"]) if tables else 0
        parents = [chance.randrange(-1, above) for _ in range(chance.randrange(4, 25))]
        if source == "deaths":
            parents = chance.sample(range(above), chance.randrange(above + 1))
        tables[source] = [
            Record(
                parent, {name: chance.choice(VALUES[: chance.choice([2, 3, 5])]) for name in "xy"}
            )
            for parent in parents
        ]
    return tables


marts = st.builds(mart, st.integers(0, 2**32))


@st.composite
def requests(draw: st.DrawFn) -> ReleaseSpec:
    sources = draw(st.sampled_from(USED))
    mine = [ref for ref in COLUMNS if ref.source in sources]
    accepted = st.frozensets(st.sampled_from(VALUES), min_size=3)
    return ReleaseSpec(
        sources=sources,
        columns=tuple(draw(st.lists(st.sampled_from(mine), unique=True, max_size=2))),
        levels={ref: draw(st.sampled_from([1, 2, 0])) for ref in mine},
        only=draw(st.dictionaries(st.sampled_from(mine), accepted, max_size=2)),
        k=draw(st.integers(2, 3)),
        scope=draw(st.sampled_from(["source", "joint"])),
        optional=draw(st.sampled_from([(), ("deaths",)])) if "deaths" in sources else (),
        complete=draw(st.booleans()),
        tied=draw(st.sampled_from([False, False, False, True])),
    )


def generalization(level: int) -> Generalization:
    if level == 0:
        return Generalization((), ())
    labels = tuple(steps[level] for steps in LADDER.steps.values())
    return Generalization(tuple(LADDER.steps), labels, "*" if level == 2 else None)


def applied(tables: Tables, spec: ReleaseSpec) -> Applied:
    labels = {ref: generalization(spec.levels[ref]) for ref in spec.columns}
    return Applied(recipe_of(tables, spec), spec.only, labels)


def outer_join(tables: Tables) -> list[Row]:
    """The rows that have a person: every source may be absent but the patient's."""
    everything = ReleaseSpec(SOURCES, (), {}, optional=SOURCES)
    return join(tables, everything)


@contextmanager
def linked(tables: Tables) -> Iterator[tuple[Session, LinkedRows]]:
    rows = outer_join(tables)
    columns: dict[str, Sequence[Cell | int]] = {
        f"text_{i}": [value(tables, row, ref) for row in rows] for i, ref in enumerate(COLUMNS)
    }
    for i, source in enumerate(SOURCES):
        numbers = [row[source] for row in rows]
        columns[f"record_{i}"] = [0 if each is None else each + 1 for each in numbers]
    columns["person"] = [f"p{row['patient']}" for row in rows]
    kinds = [pa.int64() if name.startswith("record") else pa.string() for name in columns]
    table = pa.table(list(map(pa.array, columns.values(), kinds)), names=list(columns))
    with closing(Session(Resources(threads=1))) as session:
        session.register("linked", table)
        texts = {ref: f"text_{i}" for i, ref in enumerate(COLUMNS)}
        records = {source: f"record_{i}" for i, source in enumerate(SOURCES)}
        yield session, LinkedRows("linked", texts, records)


@contextmanager
def comparison(tables: Tables) -> Iterator[Comparison]:
    with linked(tables) as (session, rows):
        yield Comparison(session, rows)


def overlaps(tables: Tables, new: ReleaseSpec, *old: ReleaseSpec) -> list[Overlap]:
    with comparison(tables) as compared:
        earlier = [Earlier((i,), applied(tables, each)) for i, each in enumerate(old, 1)]
        return compared.overlaps(applied(tables, new), earlier)


def counts(found: Sequence[Overlap]) -> Found:
    return {(each.kind, each.source): (each.cells, each.persons) for each in found}


@pytest.mark.slow
@settings(max_examples=30)
@given(tables=marts, new=requests(), old=requests())
def test_overlaps_of_two_releases_are_those_of_the_oracle(
    tables: Tables, new: ReleaseSpec, old: ReleaseSpec
) -> None:
    assert counts(overlaps(tables, new, old)) == overlaps_of_two(tables, new, old)


@pytest.mark.slow
@settings(max_examples=25)
@given(tables=marts, new=requests(), old=st.lists(requests(), min_size=2, max_size=3))
def test_overlaps_of_all_releases_are_those_of_the_oracle(
    tables: Tables, new: ReleaseSpec, old: list[ReleaseSpec]
) -> None:
    found = overlaps(tables, new, *old)
    pairs = [overlaps_of_two(tables, new, each) for each in old]
    if any(pairs):
        for i, expected in enumerate(pairs, 1):
            assert counts([each for each in found if each.earlier == (i,)]) == expected
    else:
        assert counts(found) == overlaps_of_all(tables, new, old)


@pytest.mark.slow
@settings(max_examples=20)
@given(tables=marts, new=requests(), old=st.lists(requests(), min_size=1, max_size=3))
def test_cells_of_any_number_of_releases_are_those_of_the_oracle(
    tables: Tables, new: ReleaseSpec, old: list[ReleaseSpec]
) -> None:
    """Also where two of them overlap already."""
    with linked(tables) as (session, rows), ExitStack() as kept:
        views = (*SOURCES, JOINT)
        counted = Cells(session, rows, views)
        releases = [
            kept.enter_context(release_rows(session, f"r{i}", applied(tables, each), rows, views))
            for i, each in enumerate([*old, new])
        ]
        for number, (view, unit) in enumerate(oracle_views([new, *old])):
            with counted.history(number, view, unit) as history:
                for release in releases[:-1]:
                    history = counted.extended(history, release)
                by_row = counted.small_in_history(history, releases[-1])
                by_person = counted.small_by_person_in_history(history, releases[-1])
            expected = small_cells_of_all(tables, new, old, view, unit)
            persons = small_persons_of_all(tables, new, old, view, unit)
            assert _numbers(by_row) == (len(expected), len(set().union(*expected)))
            assert _numbers(by_person) == (len(persons), len(set().union(*persons)))


def _numbers(small: SmallCells | None) -> tuple[int, int]:
    return (0, 0) if small is None else (small.cells, small.persons)


def patients(*values: str) -> Tables:
    """A mart of patients alone, with these values of x."""
    records = [Record(-1, {"x": value, "y": "a"}) for value in values]
    return {"patient": records, "findings": [], "genes": [], "deaths": []}


X = ColumnRef("patient", "x")
Y = ColumnRef("patient", "y")


def of_patients(
    level: int | None, only: str = "abcd", k: int = 2, *, tied: bool = False
) -> ReleaseSpec:
    columns = () if level is None else (X,)
    return ReleaseSpec(("patient",), columns, {X: level or 0}, {X: frozenset(only)}, k, tied=tied)


def test_one_person_more_in_the_selection_is_found_though_no_column_is_released() -> None:
    tables = patients("a", "a", "a", "b")
    found = overlaps(tables, of_patients(None, "a"), of_patients(None, "ab"))
    assert found == [Overlap("difference", (1,), "patient")]


def test_releases_that_have_no_record_in_common_do_not_overlap() -> None:
    tables = patients("a", "a", "b", "b")
    assert overlaps(tables, of_patients(0, "a"), of_patients(0, "b")) == []


def test_a_release_at_another_level_does_not_overlap_where_its_classes_are_finer_or_coarser() -> (
    None
):
    tables = patients("a", "a", "b", "b")
    assert overlaps(tables, of_patients(1), of_patients(0)) == []
    assert overlaps(tables, of_patients(0), of_patients(1)) == []


def test_every_release_keeps_the_k_that_it_promised() -> None:
    tables = patients("a", "a", "a", "b", "b", "b")
    assert overlaps(tables, of_patients(1, k=4), of_patients(0, k=3)) == [
        Overlap("intersection", (1,), "patient", 2, 6)
    ]
    left = of_patients(0, "a", k=3)
    assert overlaps(tables, of_patients(1, k=4), left) == [
        Overlap("intersection", (1,), "patient"),
        Overlap("difference", (1,), "patient"),
    ]
    assert overlaps(tables, of_patients(0, k=2), left) == []


def test_records_of_a_source_are_recognised_though_their_rows_differ() -> None:
    """Two findings have two genes each: one release has the first ones, the other the second."""
    tables: Tables = {
        "patient": [Record(-1, {"x": "a", "y": "a"}) for _ in range(4)],
        "findings": [Record(i, {"x": "ab"[i % 2], "y": "ab"[i // 2]}) for i in range(4)],
        "genes": [Record(i // 2, {"x": "ab"[i % 2], "y": "a"}) for i in range(8)],
        "deaths": [],
    }
    used, gene = ("patient", "findings", "genes"), ColumnRef("genes", "x")
    by_x, by_y = ColumnRef("findings", "x"), ColumnRef("findings", "y")
    old = ReleaseSpec(used, (by_x,), {by_x: 0}, {gene: frozenset("a")})
    new = ReleaseSpec(used, (by_y,), {by_y: 0}, {gene: frozenset("b")})
    assert overlaps(tables, new, old) == [Overlap("intersection", (1,), "findings", 4, 4)]


@pytest.mark.slow
def test_three_releases_can_show_what_no_two_of_them_show() -> None:
    """By x or by y two persons are alike, and by both the same; the third release splits them."""
    ones = [("a", "a"), ("a", "a"), ("b", "b"), ("b", "b"), ("a", "b"), ("a", "b")]
    more = [("b", "a"), ("b", "a")]
    records = [Record(-1, {"x": x, "y": y}) for x, y in [*ones, *more]]
    deaths = [Record(i, {"x": "ab"[i % 2], "y": "a"}) for i in range(8)]
    tables: Tables = {"patient": records, "findings": [], "genes": [], "deaths": deaths}
    death = ColumnRef("deaths", "x")
    used = ("patient", "deaths")
    by_x, by_y = (ReleaseSpec(used, (ref,), {ref: 0}) for ref in (X, Y))
    new = ReleaseSpec(used, (), {}, {death: frozenset("a")})
    assert overlaps(tables, by_y, by_x) == []
    assert overlaps(tables, new, by_x) == []
    assert overlaps(tables, new, by_y) == []
    assert overlaps(tables, new, by_x, by_y) == [Overlap("together", (1, 2), "patient", 8, 8)]


def test_tied_rows_of_a_person_are_compared_as_a_whole() -> None:
    """Findings alone overlap nowhere, but only one person has findings of both kinds."""
    tables: Tables = {
        "patient": [Record(-1, {"x": "a", "y": "a"}) for _ in range(5)],
        "findings": [
            Record(parent, {"x": value, "y": "a"})
            for parent, value in [(0, "a"), (0, "b"), (1, "a"), (2, "a"), (3, "b"), (4, "b")]
        ],
        "genes": [],
        "deaths": [],
    }
    ref = ColumnRef("findings", "x")
    old = ReleaseSpec(("patient", "findings"), (ref,), {ref: 0})
    assert overlaps(tables, replace(old, levels={ref: 1}), old) == []
    tied = replace(old, levels={ref: 1}, tied=True)
    assert overlaps(tables, tied, old) == [
        Overlap("intersection", (1,), "findings"),
        Overlap("intersection", (1,), "patient"),
    ]


def test_an_earlier_release_that_the_sources_do_not_give_any_more_is_said_to_be_changed() -> None:
    before, now = patients("a", "a", "b", "b", "b"), patients("a", "a", "a", "b", "b")
    with comparison(now) as compared:
        earlier = [Earlier((3, 5), applied(before, of_patients(0)))]
        found = compared.overlaps(applied(now, of_patients(1)), earlier)
    assert found == [Overlap("changed", (3, 5), "patient")]
    assert str(found[0]).startswith("entries 3, 5: the sources have changed since")


def test_a_change_is_found_where_no_column_was_released() -> None:
    before, now = patients("a", "a", "b"), patients("a", "a", "a")
    with comparison(now) as compared:
        earlier = [Earlier((1,), applied(before, of_patients(None, "a")))]
        found = compared.overlaps(applied(now, of_patients(None)), earlier)
    assert found == [Overlap("changed", (1,), "patient")]


def test_a_source_that_changes_while_it_is_compared_is_refused() -> None:
    before, now = patients("a", "a", "b", "b", "b"), patients("a", "a", "a", "b", "b")
    with comparison(now) as compared, pytest.raises(BadData) as raised:
        compared.overlaps(applied(before, of_patients(0)), [])
    assert raised.value.code == "source-changed"


def test_an_overlap_says_what_it_is_without_a_label() -> None:
    tables = patients("a", "a", "a", "b", "b", "b")
    (found,) = overlaps(tables, of_patients(1, k=4), of_patients(0, k=3))
    assert str(found) == (
        "entry 1, patient: rows in both leave fewer than k candidates for 6 persons in 2 cells"
    )
    assert found.to_dict() == {
        "kind": "intersection",
        "earlier": [1],
        "source": "patient",
        "cells": 2,
        "persons": 6,
    }


def test_an_overlap_does_not_say_how_few_persons_it_is_about() -> None:
    one, two = (
        overlaps(
            patients("a", "a", "a", *more), of_patients(None, "a", 3), of_patients(None, "ab", 3)
        )
        for more in ("b", "bb")
    )
    assert one == two
    assert str(one[0]).endswith("leave fewer than k candidates for fewer than k persons")
