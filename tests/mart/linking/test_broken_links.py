"""Links whose keys are broken, sources that are gone, and what is left afterwards."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import servers
from shoal.errors import BadData, ShoalError, UserError
from shoal.mart.catalog import Catalog, ColumnRef
from shoal.mart.linking import linked
from shoal.mart.linking.plan import plan_of
from shoal.mart.read import catalog_from_mapping
from shoal.mart.sources import OpenSources

PATIENTS = "PatId,name,born\n1,ann,1990\n2,bob,1991\n3,cy,1992\n"
FINDINGS = "Prep,Pat,Loc\np1,1,Colon\np2,1,Mamma\np3,2,Mamma\np4,3,Colon\n"
SURVIVAL = "name,born,death\nann,1990,2003\nbob,1991,\n"


def catalog(folder: Path, **changes: Any) -> Catalog:
    """Three files: patients, their findings, and survival, which may be absent."""
    for name, text in (("patient", PATIENTS), ("findings", FINDINGS), ("survival", SURVIVAL)):
        if not (folder / f"{name}.csv").exists():
            (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    to_findings = {"between": {"findings": "Pat", "patient": "PatId"}, "kind": "many-to-one"}
    key = ["name", "born"]
    to_survival = {"between": {"patient": key, "survival": key}, "kind": "one-to-one"}
    mapping = {
        "mart": "test",
        "log": "log",
        "person": {"source": "patient", "columns": ["PatId"]},
        "sources": {
            "patient": {"source": "patient.csv"},
            "findings": {"source": "findings.csv", "columns": {"Loc": "quasi-identifier"}},
            "survival": {"source": "survival.csv", "columns": {"death": "quasi-identifier"}},
        },
        "links": [to_findings, {**to_survival, "optional": "survival"}],
        "missing": {"match": "extended", "values": ["NA"]},
    }
    return catalog_from_mapping({**mapping, **changes}, folder)


COLUMNS = {"Loc": ColumnRef("findings", "Loc"), "death": ColumnRef("survival", "death")}


def rows(mart: Catalog, only: Any = None) -> list[tuple[str, str | None]]:
    with OpenSources(mart) as sources, linked(sources, COLUMNS, only or {}) as table:
        found = pq.read_table(table.options.path).to_pylist()
    return sorted((row["Loc"], str(row["death"])) for row in found)


def failure(mart: Catalog) -> ShoalError:
    with pytest.raises(ShoalError) as caught:
        rows(mart)
    return caught.value


def test_rows_without_a_partner_at_an_optional_end_stay(tmp_path: Path) -> None:
    expected = [("Colon", "2003"), ("Colon", "None"), ("Mamma", "2003"), ("Mamma", "None")]
    assert rows(catalog(tmp_path)) == expected


def test_a_selection_takes_an_absent_end_for_missing(tmp_path: Path) -> None:
    missing = {ColumnRef("survival", "death"): frozenset([None])}
    assert rows(catalog(tmp_path), missing) == [("Colon", "None"), ("Mamma", "None")]
    dead = {ColumnRef("survival", "death"): frozenset(["2003"])}
    assert rows(catalog(tmp_path), dead) == [("Colon", "2003"), ("Mamma", "2003")]


@pytest.mark.parametrize("value", ["", "NA"])
def test_a_missing_key_is_refused_wherever_it_is(tmp_path: Path, value: str) -> None:
    (tmp_path / "findings.csv").write_text(FINDINGS + f"p5,{value},Colon\n")
    error = failure(catalog(tmp_path))
    assert isinstance(error, BadData)
    assert error.code == "missing-key"
    assert error.what == "the key 'Pat' of 'findings' is missing in 1 record"


def test_a_missing_key_opposite_an_optional_end_has_no_partner(tmp_path: Path) -> None:
    (tmp_path / "patient.csv").write_text(PATIENTS.replace("ann,1990", "NA,1990"))
    (tmp_path / "survival.csv").write_text("name,born,death\nbob,1991,2004\n")
    expected = [("Colon", "None"), ("Colon", "None"), ("Mamma", "2004"), ("Mamma", "None")]
    assert rows(catalog(tmp_path)) == expected


def test_a_missing_key_at_the_optional_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "survival.csv").write_text(SURVIVAL + ",1992,2001\n")
    assert failure(catalog(tmp_path)).code == "missing-key"


def test_a_person_that_nothing_identifies_is_refused(tmp_path: Path) -> None:
    (tmp_path / "patient.csv").write_text(PATIENTS + ",dan,1993\n")
    error = failure(catalog(tmp_path))
    assert error.code == "missing-key"
    assert "'PatId' of 'patient'" in error.what


def test_a_key_that_repeats_where_it_must_be_unique_is_refused(tmp_path: Path) -> None:
    (tmp_path / "patient.csv").write_text(PATIENTS + "3,dan,1993\n1,eve,1994\n")
    error = failure(catalog(tmp_path))
    assert error.code == "duplicate-key"
    assert "2 records repeat" in error.what
    for value in ("dan", "1993", "'3'"):
        assert value not in str(error)


def test_a_broken_key_is_found_whatever_is_selected(tmp_path: Path) -> None:
    (tmp_path / "survival.csv").write_text(SURVIVAL + "ann,1990,1999\n")
    with pytest.raises(BadData) as caught:
        rows(catalog(tmp_path), {ColumnRef("survival", "death"): frozenset(["2003"])})
    assert caught.value.code == "duplicate-key"


def test_a_source_that_no_link_reaches_is_named(tmp_path: Path) -> None:
    mart = catalog(tmp_path)
    alone = Catalog.model_construct(**{**dict(mart), "links": mart.links[:1]})
    with pytest.raises(UserError) as caught:
        plan_of(alone, ["survival"])
    assert caught.value.code == "not-linked"
    assert plan_of(mart, ["survival"]).sources == ("patient", "survival")
    assert plan_of(mart, ["findings", "survival"]).sources == ("patient", "findings", "survival")


def test_an_unknown_key_column_is_named(tmp_path: Path) -> None:
    link = {"between": {"findings": "Patt", "patient": "PatId"}, "kind": "many-to-one"}
    mart = catalog(tmp_path)
    broken = Catalog.model_construct(
        **{**dict(mart), "links": (type(mart.links[0]).model_validate(link), mart.links[1])}
    )
    error = failure(broken)
    assert error.code == "unknown-column"
    assert "did you mean 'Pat'" in error.what


def test_a_file_that_vanishes_in_the_middle_is_named(tmp_path: Path) -> None:
    with OpenSources(catalog(tmp_path)) as sources:
        with linked(sources, COLUMNS, {}):
            pass
        (tmp_path / "findings.csv").unlink()
        with pytest.raises(BadData) as caught, linked(sources, COLUMNS, {}):
            pass
    assert caught.value.code == "unreadable-data"
    assert "findings.csv" in caught.value.what


def test_a_file_that_breaks_in_the_middle_is_named_with_its_line(tmp_path: Path) -> None:
    with OpenSources(catalog(tmp_path)) as sources:
        with linked(sources, COLUMNS, {}):
            pass
        (tmp_path / "findings.csv").write_text(FINDINGS + "p5,1\n")
        with pytest.raises(BadData) as caught, linked(sources, COLUMNS, {}):
            pass
    assert "findings.csv" in caught.value.what
    assert "line 6" in caught.value.what


def test_a_table_that_was_dropped_is_named(sqlite_url: str, tmp_path: Path) -> None:
    table = pa.table({"Prep": ["p1"], "Pat": ["1"], "Loc": ["Colon"]})
    servers.load(sqlite_url, "mart_findings", table)
    described = {"url": sqlite_url, "table": "mart_findings"}
    sources = {
        "patient": {"source": "patient.csv"},
        "findings": {"source": described, "columns": {"Loc": "quasi-identifier"}},
        "survival": {"source": "survival.csv", "columns": {"death": "quasi-identifier"}},
    }
    mart = catalog(tmp_path, sources=sources)
    assert rows(mart) == [("Colon", "2003")]
    servers.run_sql(sqlite_url, "DROP TABLE mart_findings")
    error = failure(mart)
    assert error.code == "no-table"
    assert "mart_findings" in error.what


def test_nothing_is_left_after_linking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither after it is done, nor when it fails, nor when the caller fails."""
    spilled = tmp_path / "spilled"
    spilled.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spilled))
    mart = catalog(tmp_path)
    with OpenSources(mart) as sources, linked(sources, COLUMNS, {}) as table:
        assert Path(table.options.path).is_relative_to(spilled)
        assert Path(table.options.path).parent.stat().st_mode & 0o077 == 0
    assert list(spilled.iterdir()) == []
    with (
        pytest.raises(KeyboardInterrupt),
        OpenSources(mart) as sources,
        linked(sources, COLUMNS, {}),
    ):
        raise KeyboardInterrupt
    assert list(spilled.iterdir()) == []
    (tmp_path / "patient.csv").write_text(PATIENTS + "1,eve,1994\n")
    assert failure(mart).code == "duplicate-key"
    assert list(spilled.iterdir()) == []


def test_random_ids_are_of_one_link_only(tmp_path: Path) -> None:
    found = []
    for _ in range(2):
        with OpenSources(catalog(tmp_path)) as sources, linked(sources, COLUMNS, {}) as table:
            read = pq.read_table(table.options.path).to_pylist()
        found.append({row[table.person]: row[table.random_ids] for row in read})
    assert found[0].keys() == found[1].keys() == {"1", "2", "3"}
    assert not set(found[0].values()) & set(found[1].values())
    assert all(len(each) == 32 for ids in found for each in ids.values())


def test_domains_and_persons_are_those_of_whole_sources(tmp_path: Path) -> None:
    (tmp_path / "findings.csv").write_text(FINDINGS + "p5,99,Lung\n")
    with OpenSources(catalog(tmp_path)) as sources:
        counts = {"Colon": 2, "Mamma": 2, "Lung": 1}
        assert sources.values(ColumnRef("findings", "Loc")) == counts
        assert sources.values(ColumnRef("survival", "death")) == {"2003": 1, None: 1}
        assert sources.persons("findings") == 3
        assert sources.persons("survival") == 2
        assert sources.persons("patient") == 3
        assert set(sources.fingerprints()) == {"patient", "findings", "survival"}
