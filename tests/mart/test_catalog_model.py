"""The model of a catalog: what its keys mean, and how columns are found."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from mart_catalogs import CLINIC
from shoal.engines.options import FileOptions
from shoal.errors import UserError
from shoal.mart.catalog import Catalog, ColumnRef
from shoal.mart.read import catalog_from_mapping


@pytest.fixture
def clinic() -> Catalog:
    return catalog_from_mapping(CLINIC, Path("/data"))


def test_paths_are_relative_to_the_folder_of_the_catalog(clinic: Catalog) -> None:
    assert clinic.log == Path("/data/mart.log")
    assert clinic.sources["genes"].source.options() == FileOptions("/data/genes.csv")


def test_a_link_knows_its_ends_in_the_order_in_which_they_are_written(clinic: Catalog) -> None:
    link = clinic.links[0]
    assert link.sources == ("findings", "patient")
    assert link.end("patient").columns == ("PatId",)
    assert link.other("patient").source == "findings"
    assert link.is_unique("patient")
    assert not link.is_unique("findings")


def test_a_column_is_found_by_its_name_or_with_its_source(clinic: Catalog) -> None:
    assert clinic.find("PT") == clinic.find("findings.PT") == ColumnRef("findings", "PT")
    assert str(clinic.find("genes.age")) == "genes.age"


@pytest.mark.parametrize(
    ("name", "code", "hint"),
    [
        ("age", "ambiguous-column", "source before the column"),
        ("pt", "unknown-column", "did you mean 'PT'"),
        ("findings.sex", "unknown-column", "did you mean"),
        ("zzzz", "unknown-column", "its columns are 'sex', 'PT', 'age', 'g1'"),
    ],
)
def test_other_names_are_refused(clinic: Catalog, name: str, code: str, hint: str) -> None:
    with pytest.raises(UserError) as raised:
        clinic.find(name)
    assert raised.value.code == code
    assert hint in raised.value.hint


def test_a_short_name_leads_back_to_its_column(clinic: Catalog) -> None:
    assert [clinic.short_name(ref) for ref in clinic.columns] == [
        "sex",
        "PT",
        "findings.age",
        "g1",
        "genes.age",
    ]
    assert all(clinic.find(clinic.short_name(ref)) == ref for ref in clinic.columns)


def test_names_that_differ_in_case_are_kept_apart() -> None:
    data = copy.deepcopy(CLINIC)
    data["sources"]["patient"]["columns"]["pt"] = "quasi-identifier"
    catalog = catalog_from_mapping(data, Path("/data"))
    assert catalog.short_name(ColumnRef("patient", "pt")) == "patient.pt"
    assert catalog.short_name(ColumnRef("findings", "PT")) == "findings.PT"


@pytest.mark.slow
def test_thousands_of_columns_are_named_at_once() -> None:
    data = copy.deepcopy(CLINIC)
    data["sources"]["genes"]["columns"] = {f"g{number}": "keep" for number in range(20_000)}
    catalog = catalog_from_mapping(data, Path("/data"))
    names = catalog.short_names(catalog.expand(["genes.*"]))
    assert len(set(names.values())) == 20_000


def test_a_star_is_all_columns_of_a_source(clinic: Catalog) -> None:
    refs = clinic.expand(["g1", "genes.*", "PT"])
    assert [str(ref) for ref in refs] == ["genes.g1", "genes.age", "findings.PT"]


def test_lookups_come_inline_or_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "icd.csv").write_text("colon;C18\nheart;I25\n\n")
    given = {**CLINIC, "maps": {"icd": "icd.csv", "yes": {"path": "icd.csv", "delimiter": ";"}}}
    catalog = catalog_from_mapping(given, tmp_path)
    assert catalog.maps["icd"] == {"colon": "C18", "heart": "I25"} == catalog.maps["yes"]
    assert list(catalog.files) == [
        (tmp_path / "icd.csv", "the map 'icd'"),
        (tmp_path / "icd.csv", "the map 'yes'"),
    ]
