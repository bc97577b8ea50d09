"""The invented registry: the same for a seed, and as awkward as a real one."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from datetime import date
from pathlib import Path

import pytest
import yaml

from shoal.cli.demo import demo, refuse_used_folder
from shoal.demo.files import (
    COUNTRY_HIERARCHY,
    DATA,
    DEFINITION,
    RELEASE,
    REPORT,
    RESULT,
    definition_text,
    write_demo,
)
from shoal.demo.registry import COLUMNS, registry, write_registry
from shoal.errors import BadOutput

MISSING = {"", "?", "unknown"}


@pytest.fixture(scope="module")
def columns() -> dict[str, list[str]]:
    return registry()


def test_the_registry_has_its_columns_and_as_many_records_as_asked_for(
    columns: dict[str, list[str]],
) -> None:
    assert tuple(columns) == COLUMNS
    assert {len(values) for values in columns.values()} == {20_000}
    assert len(registry(records=3)["zip"]) == 3


def test_a_seed_gives_the_same_bytes_on_every_machine(tmp_path: Path) -> None:
    path = tmp_path / "patients.csv"
    write_registry(path, records=1000, seed=7)
    assert (
        hashlib.sha256(path.read_bytes()).hexdigest()
        == "6f4f026fc319fb8f68472a06f8575ba35d3185ac4d05735334d933b8c39f25cb"
    )


def test_another_seed_gives_another_registry() -> None:
    assert registry(100, seed=1) != registry(100, seed=2)


def test_patient_numbers_are_distinct(columns: dict[str, list[str]]) -> None:
    assert len(set(columns["patient_id"])) == 20_000


def test_nobody_is_admitted_before_birth_and_the_oldest_is_over_105(
    columns: dict[str, list[str]],
) -> None:
    dates = zip(columns["birth"], columns["admitted"], strict=True)
    known = [(date.fromisoformat(b), date.fromisoformat(a)) for b, a in dates if b]
    assert all(birth <= admitted for birth, admitted in known)
    assert min(birth for birth, _ in known) < date(1920, 1, 1)


def test_zip_codes_have_five_digits_and_the_largest_is_far_above_the_median(
    columns: dict[str, list[str]],
) -> None:
    counts = Counter(code for code in columns["zip"] if code)
    assert all(len(code) == 5 and code.isdigit() for code in counts)
    sizes = sorted(counts.values())
    assert sizes[-1] > 5 * sizes[len(sizes) // 2]


def test_values_are_missing_in_three_spellings_but_never_most_of_them(
    columns: dict[str, list[str]],
) -> None:
    gaps = {name: Counter(v for v in values if v in MISSING) for name, values in columns.items()}
    assert set().union(*gaps.values()) == MISSING
    assert all(sum(counts.values()) < 1000 for counts in gaps.values())


@pytest.mark.parametrize("name", ["country", "occupation"])
def test_some_origins_and_jobs_are_rare(columns: dict[str, list[str]], name: str) -> None:
    assert min(Counter(columns[name]).values()) < 5


def test_diagnoses_go_with_sex(columns: dict[str, list[str]]) -> None:
    pairs = set(zip(columns["diagnosis"], columns["sex"], strict=True))
    assert ("O80 Single spontaneous delivery", "male") not in pairs


@pytest.mark.slow
def test_the_hierarchies_of_the_demo_cover_its_data(tmp_path: Path) -> None:
    definition = yaml.safe_load(write_demo(tmp_path).read_text(encoding="utf-8"))
    with (tmp_path / DATA).open(encoding="utf-8", newline="") as file:
        records = list(csv.DictReader(file))
    with (tmp_path / COUNTRY_HIERARCHY).open(encoding="utf-8", newline="") as file:
        countries = {row[0] for row in csv.reader(file, delimiter=";")}
    tree = definition["attributes"]["occupation"]["hierarchy"]["tree"]
    jobs = {job for group in tree.values() for job in group}
    assert {record["country"] for record in records} <= countries | MISSING
    assert {record["occupation"] for record in records} <= jobs | MISSING
    assert set(definition["attributes"]) == set(COLUMNS)


def test_a_demo_may_be_written_over_an_unchanged_demo(tmp_path: Path) -> None:
    write_demo(tmp_path, records=10)
    refuse_used_folder(tmp_path, force=False)


def test_a_demo_whose_definition_was_edited_is_kept(tmp_path: Path) -> None:
    write_demo(tmp_path, records=10)
    (tmp_path / DEFINITION).write_text(definition_text() + "# mine\n", encoding="utf-8")
    with pytest.raises(BadOutput, match="demo-folder"):
        refuse_used_folder(tmp_path, force=False)
    refuse_used_folder(tmp_path, force=True)


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(BadOutput, match="--force"):
        refuse_used_folder(tmp_path, force=False)


def test_a_file_in_the_place_of_the_folder_is_refused_even_by_force(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(BadOutput, match="is a file"):
        refuse_used_folder(file, force=True)


@pytest.mark.slow
def test_the_demo_leaves_a_safe_release_with_no_attribute_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo(tmp_path / "demo")
    left = {path.name for path in (tmp_path / "demo").iterdir()}
    assert left == {DATA, DEFINITION, "hierarchies", RELEASE, REPORT, RESULT}
    result = json.loads((tmp_path / "demo" / RESULT).read_text(encoding="utf-8"))
    assert (result["status"], result["verified"]) == ("optimal", True)
    heights = {"birth": 4, "sex": 1, "zip": 4, "country": 3, "occupation": 2}
    assert result["levels"].keys() == heights.keys()
    assert all(result["levels"][name] < height for name, height in heights.items())
    assert [demand["model"] for demand in result["privacy"]] == [
        "k-anonymity",
        "distinct-diversity",
    ]
    assert f"shoal run {DEFINITION} --k 20" in capsys.readouterr().out
