"""The use case of the data-mart paper, from its own sources: what it reports comes out."""

from __future__ import annotations

import contextlib
import csv
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from examples.mart import make_sources

from commands import shoal
from shoal import mart
from shoal.definition.model import LossChoice, Search
from shoal.errors import Refused, UserError
from shoal.mart import MartResult

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "mart"
STAGE_ONE = ("1mic", "1a", "1b", "1c", "1", "1a(m)", "1b(m)", "1c(m)", "1(m)")

Case = tuple[str, ...]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example in a folder of its own, with its sources."""
    ignored = shutil.ignore_patterns("data", "log.*", "release*")
    folder = tmp_path_factory.mktemp("example") / "mart"
    shutil.copytree(EXAMPLE, folder, ignore=ignored)
    make_sources.main(folder / "data")
    return folder


@pytest.fixture(scope="module")
def data(example: Path) -> Path:
    return example / "data"


def asked(example: Path, catalog: Any, request: Any, **changes: Any) -> MartResult:
    """What the library answers in the folder of the example."""
    with contextlib.chdir(example):
        return mart.request(catalog, request, **changes)


@pytest.fixture(scope="module")
def setting_a(example: Path) -> MartResult:
    return asked(example, "catalog.yaml", "request-a.yaml")


@pytest.fixture(scope="module")
def setting_b(example: Path) -> MartResult:
    return asked(example, "catalog.yaml", "request-b.yaml")


def selected_cases(data: Path) -> list[Case]:
    """PT, PN, PM, R of the cases that the paper's request selects, read by sqlite3."""
    connection = sqlite3.connect(data / "hospital.sqlite")
    rows = connection.execute(
        "SELECT PT, PN, PM, R, PatId FROM findings WHERE Loc = 'Mamma' AND G = '1'"
    ).fetchall()
    connection.close()
    assert len({row[4] for row in rows if row[0] in STAGE_ONE}) == 313
    return [row[:4] for row in rows if row[0] in STAGE_ONE]


def classes_and_singles(cases: Sequence[Case]) -> tuple[int, int]:
    sizes = Counter(cases)
    return len(sizes), sum(size == 1 for size in sizes.values())


def test_the_generated_sources_have_the_sizes_of_the_paper(data: Path) -> None:
    connection = sqlite3.connect(data / "hospital.sqlite")
    (mamma,) = connection.execute("SELECT count(*) FROM findings WHERE Loc = 'Mamma'").fetchone()
    (patients,) = connection.execute("SELECT count(*) FROM patient").fetchone()
    connection.close()
    assert mamma == 16_417
    assert len(selected_cases(data)) == 313
    assert pq.read_metadata(data / "survival.parquet").num_rows == patients


def test_the_selected_cases_have_the_classes_of_the_paper(data: Path) -> None:
    cases = selected_cases(data)
    part = {"1mi": "1", "1a": "1", "1b": "1"}
    assert classes_and_singles(cases) == (107, 67)
    assert classes_and_singles([(pt, pn, pm) for pt, pn, pm, _ in cases]) == (98, 49)
    assert classes_and_singles([(pn, pm) for _, pn, pm, _ in cases]) == (16, 0)
    assert classes_and_singles([(pn, pm, r) for _, pn, pm, r in cases])[1] > 0
    assert classes_and_singles([(part.get(pn, pn), pm, r) for _, pn, pm, r in cases]) == (20, 0)


def test_every_selected_case_has_a_profile_and_a_survival(data: Path) -> None:
    with (data / "genes.csv").open(encoding="utf-8", newline="") as file:
        profiles = Counter(int(row["PrepId"]) for row in csv.DictReader(file))
    connection = sqlite3.connect(data / "hospital.sqlite")
    selected = connection.execute(
        "SELECT PrepId, Name, Surname, DayOfBirth FROM findings JOIN patient USING (PatId)"
        f" WHERE Loc = 'Mamma' AND G = '1' AND PT IN ({','.join('?' * len(STAGE_ONE))})",
        STAGE_ONE,
    ).fetchall()
    connection.close()
    registry = pq.read_table(data / "survival.parquet").to_pylist()
    known = {(r["GivenName"], r["FamilyName"], str(r["Born"])) for r in registry}
    assert len(known) == len(registry)
    assert max(profiles.values()) == 1
    assert {row[0] for row in selected} <= set(profiles)
    assert {row[1:] for row in selected} <= known


def test_the_sources_are_the_same_each_time(data: Path, tmp_path: Path) -> None:
    make_sources.main(tmp_path)
    for name in ("hospital.sqlite", "survival.parquet", "genes.csv"):
        assert (tmp_path / name).read_bytes() == (data / name).read_bytes()


def test_the_catalog_in_xml_is_the_one_in_yaml(example: Path) -> None:
    assert mart.read_catalog(example / "catalog.xml") == mart.read_catalog(example / "catalog.yaml")


def steps(result: MartResult) -> list[tuple[str, int, int, int]]:
    found = result.sources["findings"].steps
    return [(step.column, step.level, step.classes, step.singles) for step in found]


def released(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def classes_of(rows: Sequence[Mapping[str, str]]) -> Counter[Case]:
    return Counter(tuple(row[name] for name in ("PT", "PN", "PM", "G", "R")) for row in rows)


def test_the_first_steps_cost_what_the_paper_says(example: Path) -> None:
    catalog = mart.read_catalog(example / "catalog.yaml")
    request = mart.read_request(example / "request-a.yaml")
    columns = catalog.sources["findings"].columns
    costs = {
        name: priority * (columns[name].information_loss or ())[1]
        for name, priority in request.priorities.items()
    }
    assert costs == pytest.approx({"R": 0.20, "PT": 0.24, "PN": 0.30, "PM": 0.40})


def test_setting_a_suppresses_r_and_raises_pt(setting_a: MartResult, data: Path) -> None:
    findings = setting_a.sources["findings"]
    assert (setting_a.rows_selected, setting_a.persons_selected) == (313, 313)
    assert (findings.classes_before, findings.singles_before) == (107, 67)
    assert steps(setting_a) == [("R", 1, 98, 49), ("PT", 1, 16, 0)]
    assert setting_a.levels == {"PT": 1, "PN": 0, "PM": 0, "G": 0, "R": 1}
    classes = classes_of(released(data / "release-a.csv"))
    assert (len(classes), sum(classes.values())) == (16, 313)
    assert min(classes.values()) >= 2
    assert {(pt, r) for pt, _, _, _, r in classes} == {("1", "*")}


def test_setting_b_raises_pt_and_pn_and_suppresses_no_column(
    setting_b: MartResult, data: Path
) -> None:
    assert [step[:2] for step in steps(setting_b)] == [("PT", 1), ("PN", 1)]
    assert steps(setting_b)[-1][2:] == (20, 0)
    assert setting_b.levels == {"PT": 1, "PN": 1, "PM": 0, "G": 0, "R": 0}
    classes = classes_of(released(data / "release-b.csv"))
    assert (len(classes), sum(classes.values())) == (20, 313)
    assert min(classes.values()) >= 2
    assert not any("*" in each for each in classes)


def test_limits_come_from_the_selection(setting_a: MartResult) -> None:
    limits = setting_a.sources["findings"].limits
    assert {name: limits[name].level for name in ("PT", "G")} == {"PT": 1, "G": 0}
    assert any("PT = 1" in note for note in setting_a.notes)


def test_profiles_and_survival_are_those_of_the_right_cases(
    setting_a: MartResult, data: Path
) -> None:
    """Joined afresh by sqlite3, csv and dicts, row by row with the payload."""
    with (data / "genes.csv").open(encoding="utf-8", newline="") as file:
        genes = {int(row.pop("PrepId")): row for row in csv.DictReader(file)}
    registry = pq.read_table(data / "survival.parquet").to_pylist()
    died = {(r["GivenName"], r["FamilyName"], str(r["Born"])): r["DayOfDeath"] for r in registry}
    connection = sqlite3.connect(data / "hospital.sqlite")
    rows = connection.execute(
        "SELECT PrepId, PN, PM, SendDate, Name, Surname, DayOfBirth, PT"
        " FROM findings JOIN patient USING (PatId) WHERE Loc = 'Mamma' AND G = '1'"
    ).fetchall()
    connection.close()
    expected: Counter[tuple[str, ...]] = Counter()
    for preparation, pn, pm, sent, *who, pt in rows:
        if pt in STAGE_ONE:
            death = died[tuple(who)]
            day = datetime.strptime(sent, "%d.%m.%Y").date()
            days = "" if death is None else str((death - day).days)
            profile = [str(float(value)) for value in genes[preparation].values()]
            expected[("1", pn, pm, "1", "*", days, *profile)] += 1
    found = released(data / "release-a.csv")
    names = ["PT", "PN", "PM", "G", "R", "survival_days"]
    profiles = [name for name in found[0] if name not in names]
    assert (
        Counter(
            (*(row[n] for n in names), *(str(float(row[n])) for n in profiles)) for row in found
        )
        == expected
    )


def test_both_settings_together_would_tell_who_is_alone(
    setting_a: MartResult, setting_b: MartResult, example: Path
) -> None:
    """The same asker is refused: profiles tie the rows of both releases together."""
    with pytest.raises(Refused) as refused:
        asked(example, "catalog.yaml", "request-b.yaml", asker="oncology", output="data/again.csv")
    assert refused.value.code == "overlap"
    assert not (example / "data" / "again.csv").exists()


def test_the_same_cases_lose_less_by_local_recoding(example: Path) -> None:
    read = mart.read_catalog(example / "catalog.yaml")
    request_a = mart.read_request(example / "request-a.yaml")
    catalog = read.model_copy(update={"log": example / "local.jsonl"})
    keys = {"project": ("Age", "PN", "PM", "R", "genes.*"), "limits": {}, "priorities": {}}
    one = request_a.model_copy(update={**keys, "search": Search(), "loss": LossChoice()})
    local = one.model_copy(update={"recoding": "local"})
    names = ("Age", "PN", "PM", "R")
    first, again, full = (example / f"{name}.csv" for name in ("first", "again", "full"))
    result = asked(example, catalog, local, output=first)
    classes = Counter(tuple(row[name] for name in names) for row in released(first))
    assert sum(classes.values()) == result.rows_released == 313
    assert min(classes.values()) >= 2
    assert len(classes) == result.sources["findings"].classes
    repeated = asked(example, catalog, local, output=again)
    assert repeated.overlaps == ()
    assert first.read_bytes() == again.read_bytes()
    with pytest.raises(Refused) as refused:
        asked(example, catalog, one, output=full)
    assert refused.value.code == "overlap"
    other = read.model_copy(update={"log": example / "full.jsonl"})
    levels = asked(example, other, one, output=full)
    assert result.sources["findings"].loss < levels.sources["findings"].loss


def test_a_label_that_is_a_value_too_cannot_be_recoded_locally(example: Path) -> None:
    request = mart.read_request(example / "request-a.yaml")
    keys = {"recoding": "local", "output": None}
    with pytest.raises(UserError, match="'PT'") as refused:
        asked(example, "catalog.yaml", request.model_copy(update=keys), output=example / "no.csv")
    assert refused.value.code == "ambiguous-label"


TABLE_2 = Counter(
    {
        ("3", "0", "1", "I25", "[25.0,...,29.9] Overweight"): 1,
        ("3", "0", "X", "C18", "[25.0,...,29.9] Overweight"): 1,
        ("3", "0", "X", "C18", "[18.5,...,24.9] Normal"): 3,
        ("3", "0", "1", "I25", "[18.5,...,24.9] Normal"): 1,
    }
)


def test_table_1_becomes_table_2(example: Path) -> None:
    result = asked(example, "six/catalog.yaml", "six/request.yaml")
    rows = released(example / "six" / "release.csv")
    assert Counter(tuple(row.values()) for row in rows) == TABLE_2
    assert result.levels == {"PT": 1, "PN": 0, "PM": 0, "ICD": 0, "BMI": 0}
    assert {name: each.smallest_class for name, each in result.sources.items()} == {
        "findings": 2,
        "survival": 2,
        "clinic": 2,
    }
    assert result.rows_unique == 3


def test_joint_scope_leaves_no_row_of_table_2_unique(example: Path) -> None:
    request = mart.read_request(example / "six" / "request.yaml")
    joint = request.model_copy(update={"scope": "joint", "asker": "another"})
    result = mart.request(
        mart.read_catalog(example / "six" / "catalog.yaml"), joint, output=example / "joint.csv"
    )
    rows = Counter(tuple(row.values()) for row in released(example / "joint.csv"))
    assert min(rows.values()) >= 2
    assert result.rows_unique == 0


def test_the_command_does_the_same(example: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mart"
    shutil.copytree(example, folder, ignore=shutil.ignore_patterns("log.*", "release*"))
    assert shoal("mart", "check", "catalog.yaml", folder=folder).returncode == 0
    done = shoal(
        *("mart", "request", "catalog.yaml", "request-a.yaml", "--json", "a.json"), folder=folder
    )
    assert done.returncode == 0, done.stderr
    found = json.loads((folder / "a.json").read_text(encoding="utf-8"))
    path = [(step["column"], step["level"]) for step in found["sources"]["findings"]["steps"]]
    assert path == [("R", 1), ("PT", 1)]
    assert len(classes_of(released(folder / "data" / "release-a.csv"))) == 16
    refused = shoal(
        *("mart", "request", "catalog.yaml", "request-b.yaml", "--as", "oncology"), folder=folder
    )
    assert refused.returncode == 4, refused.stderr
    assert shoal("mart", "log", "catalog.yaml", "--check", folder=folder).returncode == 0
