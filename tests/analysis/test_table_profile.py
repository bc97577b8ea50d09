"""A table at first sight: counts, types, risk by column, and the guesses of `shoal init`."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from shoal.analysis import table_profile
from shoal.analysis.column_shape import histogram, type_of
from shoal.analysis.table_profile import TableProfile, profile_table
from shoal.analysis.uniqueness import Uniqueness, uniqueness
from shoal.cli.addresses import address_of
from shoal.cli.init import drafted
from shoal.demo.registry import write_registry
from shoal.engines.duckdb.files import open_files
from shoal.engines.options import FileOptions
from shoal.errors import BadData


@pytest.fixture(scope="module")
def patients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("profile") / "patients.csv"
    write_registry(path, 1500)
    return path


def profiled(path: Path, missing: tuple[str, ...] | None = None) -> TableProfile:
    with open_files(FileOptions(str(path))) as source:
        return profile_table(source, missing)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_each_column_is_counted_as_a_plain_loop_counts_it(patients: Path) -> None:
    found, rows = profiled(patients), rows_of(patients)
    assert found.records == len(rows)
    assert set(found.missing) == {"?", "unknown"}
    for column in found.columns:
        values = [row[column.name] for row in rows]
        present = Counter(v for v in values if v not in ("", "?", "unknown"))
        absent = len(values) - sum(present.values())
        assert column.distinct == len(present)
        assert column.missing == absent
        assert column.unique == sum(count == 1 for count in present.values())
        classes = [*present.values(), *([absent] if absent else [])]
        alike = sum(size * (size - 1) for size in classes)
        assert column.distinction == pytest.approx(len(classes) / len(values))
        assert column.separation == pytest.approx(1 - alike / len(values) / (len(values) - 1))


def test_roles_and_hierarchies_are_guessed_as_init_guesses_them(patients: Path) -> None:
    written = yaml.safe_load(drafted(address_of(str(patients)), patients.parent, 5).text)
    guessed = {column.name: column.attribute for column in profiled(patients).columns}
    assert guessed == written["attributes"]


def test_a_sample_of_many_values_leads_to_the_same_counts_and_roles(
    patients: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = profiled(patients)
    monkeypatch.setattr(table_profile, "SAMPLE", 100)
    sampled = profiled(patients)
    for one, other in zip(whole.columns, sampled.columns, strict=True):
        assert (one.name, one.distinct, one.unique, one.role) == (
            other.name,
            other.distinct,
            other.unique,
            other.role,
        )
        assert one.attribute == other.attribute


def test_a_large_table_is_counted_column_by_column_with_the_same_result(
    patients: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = profiled(patients)
    monkeypatch.setattr(table_profile, "MOST_CELLS", 0)
    assert profiled(patients) == at_once


def test_stated_texts_for_missing_replace_the_guessed_ones(patients: Path) -> None:
    found = profiled(patients, ("?",))
    assert found.missing == ("?",)
    country = next(column for column in found.columns if column.name == "country")
    rows = rows_of(patients)
    assert country.missing == sum(row["country"] in ("", "?") for row in rows)


def test_no_value_of_the_data_is_in_the_profile(patients: Path) -> None:
    said = repr(profiled(patients))
    for row in rows_of(patients)[:200]:
        assert row["name"] not in said
        assert not row["birth"] or row["birth"] not in said


def test_a_kept_identifier_has_a_warning_and_a_kind(patients: Path) -> None:
    number = profiled(patients).columns[0]
    assert [each.code for each in number.warnings] == ["kept-unique"]
    assert number.identifier == "medical record number"


def test_persons_with_several_records_are_found(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    lines = [f"P{i % 300},{1950 + i % 300 % 40},{'mf'[i % 300 % 2]}" for i in range(900)]
    path.write_text("\n".join(["patient_id,birth_year,sex", *lines]))
    person = profiled(path).person
    assert person is not None
    assert (person.columns, person.persons, person.records) == (("patient_id",), 300, 900)


def test_a_column_of_lists_has_no_values_to_compare(tmp_path: Path) -> None:
    path = tmp_path / "nested.parquet"
    pq.write_table(pa.table({"age": [30, 40, 40], "visits": [[1], [1, 2], []]}), path)
    visits = next(c for c in profiled(path).columns if c.name == "visits")
    assert (visits.type, visits.distinct, visits.role) == ("no values", 0, "drop")


def test_a_table_without_records_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("a,b\n")
    with pytest.raises(BadData, match="no records"):
        profiled(path)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], "no values"),
        (["yes", "no"], "yes or no"),
        (["Ja", "Nein"], "yes or no"),
        (["1", "-2", "30"], "whole numbers"),
        (["1.5", "2", "1e3"], "numbers"),
        (["01234", "10115"], "codes"),
        (["2024-01-31", "1999-12-01"], "dates"),
        (["31.01.2024", "1.12.1999"], "dates"),
        (["2024-01-31 10:15", "1999-12-01T08:00:00"], "times"),
        (["1", "two"], "text"),
    ],
)
def test_the_type_of_values_is_what_all_of_them_are(values: list[str], kind: str) -> None:
    assert type_of(pa.array(values, pa.string())) == kind


def test_a_histogram_has_every_record_of_ordered_values_once() -> None:
    import numpy as np

    values = pa.array([str(number) for number in range(100)])
    bars = histogram(values, np.full(100, 3), "whole numbers")
    assert len(bars) == 16
    assert sum(bars) == 300
    assert histogram(pa.array(["a", "b"]), np.array([2, 5]), "text") == (5, 2)


def test_records_that_are_alone_are_counted_as_a_plain_loop_counts_them(patients: Path) -> None:
    columns = ("birth", "sex", "zip")
    with open_files(FileOptions(str(patients))) as source:
        found = uniqueness(source, columns, ("?",), 5)
        nothing = uniqueness(source, (), (), 5)
    classes = Counter(
        tuple(None if row[name] in ("", "?") else row[name] for name in columns)
        for row in rows_of(patients)
    )
    assert found == Uniqueness(
        records=1500,
        unique=sum(size == 1 for size in classes.values()),
        below_k=sum(size for size in classes.values() if size < 5),
        classes=len(classes),
    )
    assert nothing == Uniqueness(1500, 0, 0, 1)


def test_what_keeps_a_column_from_being_one_of_numbers_is_said_without_a_value(
    tmp_path: Path,
) -> None:
    path = tmp_path / "p.csv"
    rows = "".join(f"{20 + i % 60},x{i % 3}\n" for i in range(300))
    path.write_text(f"age,b\n{rows}geheim,x1\n", encoding="utf-8")
    age, other = profiled(path).columns
    assert "1 record has 1 value of another kind" in age.reason
    assert "geheim" not in age.reason
    assert "another kind" not in other.reason
