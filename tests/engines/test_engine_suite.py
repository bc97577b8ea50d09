"""Every engine gives the same classes, the same results and the same released records."""

from __future__ import annotations

import datetime
import decimal
import functools
import json
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from sqlalchemy.exc import OperationalError

from adapters import (
    Defined,
    InDatabase,
    InDuckDB,
    InFile,
    InMemory,
    InSpark,
    Place,
    Rows,
    rows_of,
    staged,
)
from shoal.engines.base import Generalization, Recoding
from shoal.engines.opening import recode_into
from shoal.errors import BadData, Infeasible
from shoal.measure.persons import tally
from shoal.report.result import to_json

FILES = ("csv", "parquet")
FRAMES = ("pandas", "polars", "arrow")
DATABASES = ("sqlite", "postgres", "mariadb")
ENGINES = (*FILES, *FRAMES, "duckdb", *DATABASES, "spark")

Make = Callable[[str], Place]


@pytest.fixture
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """An adapter of an engine; servers are started by the first test that needs one."""

    def of(kind: str) -> Place:
        folder = tmp_path / kind
        folder.mkdir()
        if kind in FILES:
            return InFile(folder, f".{kind}")
        if kind in FRAMES:
            return InMemory(kind)
        if kind == "duckdb":
            return InDuckDB(folder)
        if kind in DATABASES:
            return InDatabase(request.getfixturevalue(f"{kind}_url"))
        return InSpark(folder, request.getfixturevalue("spark_session"))

    return of


@pytest.fixture(params=ENGINES)
def place(request: pytest.FixtureRequest, make: Make) -> Place:
    return make(request.param)


PATIENTS = pa.table(
    {
        "sex": pa.array(["f", "m", None, "f "] * 30),
        "age": pa.array([None if i % 17 == 0 else 20 + i * 7 % 40 for i in range(120)]),
        "born": pa.array([datetime.date(1990 + i % 4, 1 + i % 2, 28) for i in range(120)]),
        "illness": pa.array(["flu", "Flu", "cancer", "", "NA", "gout"] * 20),
        "ward": pa.array([i % 3 for i in range(120)]),
        "name": pa.array([f"nobody {i % 70}" for i in range(120)]),
    }
)

DEFINITION: dict[str, Any] = {
    "k": 4,
    "suppression": "10%",
    "missing": {"match": "extended", "values": ["NA"]},
    "attributes": {
        "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20, 40]}},
        "born": {"role": "quasi-identifier", "hierarchy": {"date": ["month", "year"]}},
        "illness": {"role": "sensitive", "diversity": {"distinct": 2}},
        "ward": "keep",
        "name": "identifier",
    },
}
VARIANTS: dict[str, dict[str, Any]] = {
    "extended": {},
    "basic": {"missing": {"match": "basic", "values": ["NA"]}},
    "marked": {"suppressed": "mark"},
    "entropy": {"loss": "entropy", "k": 3},
    "persons": {"person": "name"},
    "marked persons": {"person": "name", "suppressed": "mark"},
    "local": {"recoding": "local"},
    "local persons": {"recoding": "local", "person": "name"},
    "local, marked": {"recoding": "local", "suppressed": "mark"},
    "local, basic": {"recoding": "local", "missing": {"match": "basic", "values": ["NA"]}},
}


def comparable(result: Any) -> dict[str, Any]:
    """The result without names, times, versions, fingerprints of files, and steps of the search.

    Threads share the search differently each time. Nor has it examples of values as they were: a
    number with missing ones is a float in pandas.
    """
    saved: dict[str, Any] = json.loads(to_json(result))
    for treatment in saved["treatments"].values():
        del treatment["levels"][0]["example"]
    files = ("output", "output_sha256", "input_sha256", "sources", "versions")
    own = (*files, "seconds", "progress", "boxes", "checked")
    return {key: value for key, value in saved.items() if key not in own}


def release_patients(place: Place, variant: str) -> tuple[dict[str, Any], Rows]:
    """The result and the records of a run."""
    place.load(PATIENTS)
    result = place.release({**DEFINITION, **VARIANTS[variant]})
    assert result.verified
    return comparable(result), place.rows()


@pytest.fixture(scope="module")
def reference(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], tuple[dict[str, Any], Rows]]:
    """What a run on a CSV file gives for a variant; it is run once for all engines."""

    @functools.cache
    def of(variant: str) -> tuple[dict[str, Any], Rows]:
        return release_patients(InFile(tmp_path_factory.mktemp("csv"), ".csv"), variant)

    return of


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES[1:])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_same_definition_gives_the_same_result_and_records(
    engine: str,
    variant: str,
    make: Make,
    reference: Callable[[str], tuple[dict[str, Any], Rows]],
) -> None:
    other = make(engine)
    result, records = release_patients(other, variant)
    assert (result, records) == reference(variant)
    assert records.total() > 0
    assert other.strays() == []


def test_columns_come_in_order_with_their_names(place: Place) -> None:
    names = ["b", "A", "select", 'say "hi"', "näme"]
    place.load(pa.table({name: ["x"] for name in names}))
    with closing(place.open()) as source:
        assert [column.name for column in source.columns()] == names
        assert source.count_by([]).to_pydict() == {"#records": [1]}
        with pytest.raises(BadData) as caught:
            source.count_by(["nothing"])
    assert caught.value.code == "unknown-column"


VISITS = PATIENTS.set_column(5, "name", pa.array([f"nobody {i % 50}" for i in range(120)]))


def test_the_verifier_counts_the_persons_of_classes_and_of_their_values(place: Place) -> None:
    """A quasi-identifier that also identifies persons does so by its values."""
    place.load(VISITS)
    years = {f"{1990 + i}-{1 + i % 2:02}-28": ["1990-91", "1992-93"][i // 2] for i in range(4)}
    labels = Generalization(tuple(years), tuple(years.values()))
    with closing(place.open()) as source:
        found = tally(
            source,
            ("sex", "born"),
            ("name", "born"),
            sensitive="illness",
            missing=["NA"],
            generalized={"born": labels},
            complete=["age"],
        )
    pairs: dict[Any, set[Any]] = {}
    for row in VISITS.to_pylist():
        if row["age"] is not None:
            ill = None if row["illness"] in ("", "NA") else row["illness"]
            key = row["sex"], years[row["born"].isoformat()]
            pairs.setdefault(key, set()).add((row["name"], row["born"], ill))
    assert found.values is not None
    assert len(pairs) == found.labels.num_rows
    for row, key in enumerate(zip(*found.labels.to_pydict().values(), strict=True)):
        assert found.persons[row] == len({pair[:2] for pair in pairs[key]})
        assert found.values.of_persons(row) == Counter(pair[2] for pair in pairs[key])
    everywhere = set().union(*pairs.values())
    assert found.values.table == Counter(pair[2] for pair in everywhere)
    assert found.everybody == len({pair[:2] for pair in everywhere})


TEXTS = ["a", "a ", "A", "ä", "a\u0308", "", "NA", None, " ", "na", "1", "01", "0"]


def test_texts_are_compared_by_their_characters_and_empty_is_missing(place: Place) -> None:
    place.load(pa.table({"t": TEXTS, "u": ["x"] * len(TEXTS)}))
    with closing(place.open()) as source:
        plain = source.count_by(["t", "u"])
        cleaned = source.count_by(["t"], missing=["NA"])
    expected = Counter(text or None for text in TEXTS)
    assert counts(plain) == {(text, "x"): n for text, n in expected.items()}
    expected[None] += expected.pop("NA")
    assert counts(cleaned) == {(text,): n for text, n in expected.items()}


def counts(table: pa.Table) -> dict[tuple[str | None, ...], int]:
    columns = [column.to_pylist() for column in table.columns]
    return {tuple(row): count for *row, count in zip(*columns, strict=True)}


UTC = datetime.UTC
MOMENT = datetime.datetime(2026, 1, 31, 12, 30)
VALUES: dict[str, tuple[pa.Array, list[str | None]]] = {
    "boolean": (pa.array([True, False, None]), ["true", "false", None]),
    "integer": (pa.array([0, -5, 2**63 - 1]), ["0", "-5", "9223372036854775807"]),
    "long integer": (
        pa.array([decimal.Decimal(10**30), decimal.Decimal(-1), None], pa.decimal128(38, 0)),
        [str(10**30), "-1", None],
    ),
    "decimal": (
        pa.array([decimal.Decimal("1.50"), decimal.Decimal("-0.05"), None], pa.decimal128(10, 2)),
        ["1.50", "-0.05", None],
    ),
    "double": (pa.array([0.1, 1e20, float("nan")]), ["0.1", "1e+20", None]),
    "whole double": (pa.array([1.0, -2.5, None]), ["1.0", "-2.5", None]),
    "date": (
        pa.array([datetime.date(2026, 1, 31), datetime.date(999, 1, 1), None]),
        ["2026-01-31", "0999-01-01", None],
    ),
    "moment": (
        pa.array([MOMENT, MOMENT.replace(microsecond=250_000), None], pa.timestamp("us")),
        ["2026-01-31 12:30:00", "2026-01-31 12:30:00.25", None],
    ),
    "zoned moment": (
        pa.array([MOMENT.replace(tzinfo=UTC), None], pa.timestamp("us", "Europe/Berlin")),
        ["2026-01-31 12:30:00+00", None],
    ),
}
UNLIKE = {
    ("sqlite", "long integer"): "SQLite has no integers of more than 64 bits",
    ("sqlite", "decimal"): "SQLite has no decimals",
    ("sqlite", "zoned moment"): "SQLite has no time zones",
    ("mariadb", "zoned moment"): "MariaDB has no time zones",
    ("mariadb", "double"): "MariaDB has no NaN",
    ("sqlite", "double"): "SQLite has no NaN",
}
"""Types that a database does not have, so that the test's own loading changes the values."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "kind"),
    [(engine, kind) for engine in ENGINES for kind in VALUES if (engine, kind) not in UNLIKE],
)
def test_values_of_every_type_have_the_same_text(engine: str, kind: str, make: Make) -> None:
    place = make(engine)
    values, texts = VALUES[kind]
    place.load(pa.table({"v": values, "w": ["x"] * len(values)}))
    with closing(place.open()) as source:
        found = source.count_by(["v"])
    assert counts(found) == {(text,): n for text, n in Counter(texts).items()}


TABLE = pa.table(
    {"q": ["a", "b", None, "c", "NA"], "n": [1, 2, 3, 4, 5], "s": ["x", "NA", "", None, "y"]}
)
LABELS = Generalization(("a", "b", "c"), ("ab", "ab", "C"), None)


def listed(*texts: str | None) -> pa.Table:
    return pa.table({"q": pa.array(texts, pa.string())})


LOCAL: dict[str, Any] = {
    "generalized": {"q": Generalization((), ())},
    "classes": listed("a", "b", None),
    "labels": listed("*", "b", "*"),
}


def recoding(**changes: Any) -> Recoding:
    plain = {"columns": ("q", "n", "s"), "generalized": {"q": LABELS}}
    plain["classes"] = listed("ab", None)
    return Recoding(**{**plain, "blanked": ("q", "s"), "missing": ("NA",), **changes})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, [("ab", "1", "x"), ("ab", "2", "NA"), (None, "3", None), (None, "5", "y")]),
        ({"complete": True}, [("ab", "1", "x"), ("ab", "2", "NA")]),
        (
            {"mark": True},
            [
                ("ab", "1", "x"),
                ("ab", "2", "NA"),
                (None, "3", None),
                (None, "4", None),
                (None, "5", "y"),
            ],
        ),
        ({"columns": ("s", "q")}, [("x", "ab"), ("NA", "ab"), (None, None), ("y", None)]),
        (LOCAL, [("*", "1", "x"), ("b", "2", "NA"), ("*", "3", None), ("*", "5", "y")]),
        (
            {**LOCAL, "mark": True, "blanked": ("s",)},
            [
                ("*", "1", "x"),
                ("b", "2", "NA"),
                ("*", "3", None),
                (None, "4", None),
                ("*", "5", "y"),
            ],
        ),
        (
            {**LOCAL, "generalized": {"q": LABELS}, "classes": listed("ab", None)}
            | {"labels": listed("all", None)},
            [("all", "1", "x"), ("all", "2", "NA"), (None, "3", None), (None, "5", "y")],
        ),
        (
            {"generalized": {"n": Generalization((), ())}, "columns": ("n", "q")}
            | {"classes": pa.table({"n": ["1", "4", "7"]}), "labels": pa.table({"n": ["1"] * 3})},
            [("1", "a"), ("1", "c")],
        ),
    ],
)
def test_a_recoding_releases_labels_of_the_listed_classes(
    changes: dict[str, Any], expected: list[tuple[str | None, ...]], place: Place
) -> None:
    place.load(TABLE)
    with closing(place.open()) as source, staged(source, recoding(**changes), place) as made:
        assert rows_of(made.source()) == Counter(expected)
    assert place.rows() == Counter()
    assert place.strays() == []


def test_a_recoding_is_streamed_under_the_real_names(place: Place) -> None:
    place.load(TABLE)
    with closing(place.open()) as source, source.recoded(recoding()) as rows:
        table = rows.read_all()
    assert table.column_names == ["q", "n", "s"]
    assert Counter(table.column("q").to_pylist()) == {"ab": 2, None: 2}
    assert table.num_rows == 4


@pytest.mark.slow
@pytest.mark.parametrize("suppressed", ["drop", "mark"])
def test_the_order_of_a_local_release_does_not_depend_on_the_values(
    place: Place, suppressed: str
) -> None:
    """Two tables with the same release: who has 1 in one of them, has 2 in the other."""
    tree = {"*": {"number": ["1", "2"], "letter": ["a", "b"]}}
    definition = {
        "k": 30,
        "suppression": 2,
        "suppressed": suppressed,
        "recoding": "local",
        "attributes": {
            "q": {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "limit": 1},
            "n": "keep",
        },
    }
    if isinstance(place, InDatabase | InDuckDB | InSpark):
        place.output["replace"] = True
    lying = []
    for first in (0, 1):
        values = ["12"[i % 2 ^ first] for i in range(40)] + ["a"] * 40 + ["b"] * 2
        place.load(pa.table({"q": values, "n": [f"n{i:02}" for i in range(82)]}))
        assert place.release(definition).levels == {"q": {0: 40, 1: 40}}
        lying.append(place.lying())
    assert lying[0] == lying[1]


@pytest.mark.slow
def test_the_order_does_not_distinguish_a_suppressed_record_from_one_with_missing_values(
    place: Place,
) -> None:
    """Two tables with the same release: who is suppressed in one, is missing in the other."""
    definition = {
        "k": 3,
        "suppression": "50%",
        "suppressed": "mark",
        "attributes": {"q": "quasi-identifier", "n": "keep"},
    }
    if isinstance(place, InDatabase | InDuckDB | InSpark):
        place.output["replace"] = True
    lying = []
    for gone in (0, 1):
        keys = [f"alone {i}" if i % 2 == gone else None for i in range(40)]
        place.load(pa.table({"q": keys + ["many"] * 40, "n": [f"n{i}" for i in range(80)]}))
        assert place.release(definition).suppressed == 20
        lying.append(place.lying())
    assert lying[0] == lying[1]


@pytest.mark.slow
def test_a_class_without_any_quasi_identifier_keeps_its_blank_records(place: Place) -> None:
    """Blank records look like suppressed ones, but their class has other records."""
    place.load(
        pa.table(
            {"q": [None] * 4 + ["a"] * 4 + ["b"], "s": [None, None, *("flu", "cold") * 3, "flu"]}
        )
    )
    ill = {"role": "sensitive", "diversity": {"distinct": 2}}
    where = {"role": "quasi-identifier", "hierarchy": "suppress", "limit": 0}
    mapping = {"k": 4, "suppression": 1, "suppressed": "mark", "attributes": {"q": where, "s": ill}}
    result = place.release(mapping)
    assert (result.suppressed, result.classes, result.smallest_class) == (1, 2, 4)
    assert place.rows()[None, None] == 3


@pytest.mark.slow
def test_a_discarded_output_leaves_nothing_and_a_published_one_is_there(place: Place) -> None:
    place.load(TABLE)
    with closing(place.open()) as source:
        dropped = recode_into(source, recoding(), place.target())
        dropped.discard()
        dropped.discard()
        assert place.rows() == Counter()
        kept = recode_into(source, recoding(), place.target())
        kept.publish()
        kept.discard()
    if isinstance(place, Defined):
        assert place.rows().total() == 4
    assert place.strays() == []


@pytest.mark.slow
@pytest.mark.parametrize("engine", [*FILES, "duckdb", *DATABASES, "spark"])
def test_a_source_that_changes_in_between_is_noticed_or_not_seen(engine: str, make: Make) -> None:
    """A snapshot hides the new record, SQLite and DuckDB let nobody write; else the run stops."""
    place = make(engine)
    assert isinstance(place, Defined)
    place.load(TABLE)
    with closing(place.open()) as source:
        source.count_by(["q"])
        try:
            place.add(TABLE, pa.table({"q": ["new"], "n": [6], "s": ["z"]}))
        except (OperationalError, duckdb.Error):
            assert engine in ("sqlite", "duckdb")
        seen = not_seen = 0
        try:
            with staged(source, recoding(), place) as made:
                not_seen = rows_of(made.source()).total()
        except BadData as error:
            seen = error.code == "source-changed"
    assert seen or (not_seen == 4 and engine in ("duckdb", "postgres", "sqlite"))
    assert place.strays() == []


def test_a_value_without_a_label_stops_the_recoding(place: Place) -> None:
    place.load(TABLE)
    few = Generalization(("a", "c"), ("ab", "C"), None)
    with closing(place.open()) as source, pytest.raises(BadData) as caught:
        recode_into(source, recoding(generalized={"q": few}), place.target())
    assert caught.value.code == "source-changed"
    assert place.rows() == Counter()
    assert place.strays() == []


def test_a_demand_that_cannot_be_met_leaves_the_old_output(place: Place) -> None:
    place.load(PATIENTS)
    with pytest.raises(Infeasible):
        place.release({**DEFINITION, "k": 121, "suppression": 0})
    assert place.rows() == Counter()
    assert place.strays() == []
