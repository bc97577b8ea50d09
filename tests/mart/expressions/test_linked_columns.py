"""Derived columns of a catalog: computed from linked sources of several engines."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import servers
from shoal.errors import BadData, UserError
from shoal.mart.catalog import ColumnRef
from shoal.mart.linking import linked
from shoal.mart.read import catalog_from_mapping
from shoal.mart.sources import OpenSources

pytestmark = pytest.mark.slow

FINDINGS = """\
PrepId,PatId,SendDate,height,weight,Loc
1,p1,23.09.2003,185,85,Mamma
2,p1,07.03.2005,185,n/a,Colon
3,p2,29.02.2004,170,60.5,
4,p3,01.01.2001,160,70,Mamma
"""
BMI = "round(weight / (height / 100) ^ 2)"
BANDS = "['[0,...,18.4]', '[18.5,...,24.9] Normal', '[25.0,...,29.9] Overweight', '[30,...]']"
DERIVED = {
    "findings": {
        "bmi": BMI,
        "class": f"band(bmi, [18.5, 25, 30], {BANDS})",
        "survival": "days(survival.`day of death`, date(SendDate, 'dd.mm.yyyy'))",
        "sent": "year(date(SendDate, 'dd.mm.yyyy'))",
    },
    "survival": {
        "state": "case when `day of death` is missing then 'alive' else 'dead' end",
        "icd": "lookup(cause, icd)",
        "one": "1 / coalesce(length(pat) - 1, 0)",
    },
}


def mart(folder: Path, **more: Mapping[str, str]) -> Any:
    """Findings in a CSV file, patients in SQLite, survival in Parquet with typed dates.

    p3 has no record in survival, and p2 has one without a day of death.
    """
    (folder / "findings.csv").write_text(FINDINGS, encoding="utf-8")
    url = f"sqlite:///{folder / 'clinic.db'}"
    servers.load(url, "patient", pa.table({"Id": ["p1", "p2", "p3"], "name": ["a", "b", "c"]}))
    died = pa.array([date(2005, 8, 15), None], pa.date32())
    cause = ["heart attack", None]
    table = pa.table({"pat": ["p1", "p2"], "day of death": died, "cause": cause})
    pq.write_table(table, folder / "survival.parquet")
    where: dict[str, Any] = {
        "findings": "findings.csv",
        "patient": {"url": url, "table": "patient"},
        "survival": "survival.parquet",
    }
    plain: dict[str, dict[str, Any]] = {
        "findings": {"PrepId": "keep", "Loc": "quasi-identifier"},
        "patient": {"name": "quasi-identifier"},
        "survival": {"cause": "quasi-identifier"},
    }
    for source, columns in (*DERIVED.items(), *more.items()):
        for name, text in columns.items():
            plain[source][name] = {"role": "quasi-identifier", "derive": text}
    mapping = {
        "mart": "test",
        "log": "log.jsonl",
        "person": {"source": "patient", "columns": ["Id"]},
        "missing": {"match": "extended", "values": ["n/a"]},
        "maps": {"icd": {"heart attack": "I219"}},
        "sources": {name: {"source": where[name], "columns": plain[name]} for name in where},
        "links": [
            {"between": {"findings": "PatId", "patient": "Id"}, "kind": "many-to-one"},
            {
                "between": {"patient": "Id", "survival": "pat"},
                "kind": "one-to-one",
                "optional": "survival",
            },
        ],
    }
    return catalog_from_mapping(mapping, folder)


def rows(
    catalog: Any,
    *names: str,
    only: Mapping[str, frozenset[str | None]] | None = None,
    outer: bool = False,
) -> list[tuple[Any, ...]]:
    """The rows of these columns, in the order of the first."""
    columns = {name: catalog.find(name) for name in names}
    accepted = {catalog.find(name): texts for name, texts in (only or {}).items()}
    with OpenSources(catalog) as sources, linked(sources, columns, accepted, outer=outer) as table:
        found = pq.read_table(table.options.path).select(list(names)).to_pylist()
    return sorted((tuple(row.values()) for row in found), key=lambda row: str(row[0]))


def test_derived_columns_are_computed_from_all_linked_sources(tmp_path: Path) -> None:
    overweight = "[25.0,...,29.9] Overweight"
    assert rows(mart(tmp_path), "PrepId", "bmi", "class", "survival", "sent", "icd") == [
        ("1", 25, overweight, 692, 2003, "I219"),
        ("2", None, None, 161, 2005, "I219"),
        ("3", 21, "[18.5,...,24.9] Normal", None, 2004, None),
        ("4", 27, overweight, None, 2001, None),
    ]


@pytest.mark.parametrize("outer", [False, True])
def test_a_derived_column_is_missing_where_its_optional_source_is_absent(
    tmp_path: Path, outer: bool
) -> None:
    assert rows(mart(tmp_path), "PrepId", "state", "one", outer=outer) == [
        ("1", "dead", 1),
        ("2", "dead", 1),
        ("3", "alive", 1),
        ("4", None, None),
    ]


def test_derived_columns_can_be_selected(tmp_path: Path) -> None:
    catalog = mart(tmp_path)
    assert rows(catalog, "PrepId", only={"bmi": frozenset(["25", "27"])}) == [("1",), ("4",)]
    assert rows(catalog, "PrepId", only={"state": frozenset(["alive"])}) == [("3",)]
    assert rows(catalog, "PrepId", only={"state": frozenset([None])}) == [("4",)]
    assert rows(catalog, "name", only={"survival": frozenset(["692"])}) == [("a",)]


def test_the_domain_of_a_derived_column_is_that_of_the_whole_source(tmp_path: Path) -> None:
    with OpenSources(mart(tmp_path)) as sources:
        assert sources.values(ColumnRef("findings", "bmi")) == {"25": 1, "21": 1, "27": 1, None: 1}
        assert sources.values(ColumnRef("survival", "state")) == {"dead": 1, "alive": 1}
        assert sources.values(ColumnRef("findings", "survival")) == {"692": 1, "161": 1, None: 2}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1 / (PrepId - 3)", "division-by-zero"),
        ("number(Loc)", "not-a-number"),
        ("date(SendDate)", "not-a-date"),
        ("lookup(Loc, icd)", "not-in-map"),
        ("round(PrepId * 1e15) * 100", "overflow"),
    ],
)
def test_what_cannot_be_computed_is_an_error_that_names_the_column(
    tmp_path: Path, text: str, code: str
) -> None:
    catalog = mart(tmp_path, findings={"bad": text})
    for attempt in (
        lambda: rows(catalog, "PrepId", "bad"),
        lambda: rows(catalog, "PrepId", only={"bad": frozenset(["1"])}),
        lambda: OpenSources(catalog).values(ColumnRef("findings", "bad")),
    ):
        with pytest.raises(BadData) as raised:
            attempt()
        assert raised.value.code == code
        assert "derived column 'findings.bad'" in raised.value.what
        assert not any(value in str(raised.value) for value in ("Mamma", "Colon", "23.09"))


def test_the_error_of_a_derived_column_does_not_depend_on_the_selection(tmp_path: Path) -> None:
    catalog = mart(tmp_path, findings={"bad": "1 / (PrepId - 3)", "over": "bad + 1"})
    messages = set()
    for patients in (["a"], ["b"], ["c"], ["a", "b", "c"], ["d"]):
        for name in ("bad", "over"):
            with pytest.raises(BadData) as raised:
                rows(catalog, "PrepId", name, only={"name": frozenset(patients)})
            messages.add(str(raised.value))
    assert len(messages) == 1
    assert "'findings.bad': `1 / (PrepId - 3)` divides by zero in 1 row" in messages.pop()


def test_kinds_that_do_not_fit_name_the_derived_column(tmp_path: Path) -> None:
    catalog = mart(tmp_path, findings={"bad": "Loc < SendDate"})
    with pytest.raises(UserError) as raised:
        rows(catalog, "bad")
    assert raised.value.code == "bad-expression"
    assert raised.value.what.startswith("findings.bad: character 1: ")
