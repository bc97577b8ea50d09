"""Local recoding from a definition to a verified file, counted by plain Python."""

from __future__ import annotations

import csv
import json
import random
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import shoal
from shoal.cli.app import app
from shoal.collapse.read import collapse, open_records
from shoal.definition.demands import loss_of, models_of
from shoal.definition.json_schema import json_schema
from shoal.definition.read import from_mapping, read
from shoal.definition.xml_write import to_xml
from shoal.errors import BadDefinition, UserError
from shoal.events import Event
from shoal.recoding.local.run import LocalSearch
from shoal.recoding.local.solution import LocalBest
from shoal.report.result import to_dict, write_result
from shoal.search.incumbent import Limits
from shoal.search.run import problem_of
from shoal.verify.file import verify_file
from shoal.verify.stated import read_stated

NAMES = ("zip", "age", "sex")


def write_table(folder: Path, records: int = 200, missing: bool = False) -> None:
    """Random people; the same for every run."""
    chance = random.Random(7)
    with (folder / "data.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", *NAMES, "illness"])
        for i in range(records):
            age = "" if missing and chance.random() < 0.1 else str(chance.randrange(20, 90))
            place = f"{chance.choice('123')}{chance.randrange(100):02}"
            row = [place, age, chance.choice("fm"), chance.choice("abcdef")]
            writer.writerow([f"person {i}", *row])


def definition_in(folder: Path, **keys: Any) -> dict[str, Any]:
    return {
        "source": str(folder / "data.csv"),
        "output": str(folder / "release.csv"),
        "k": 5,
        "recoding": "local",
        "attributes": {
            "name": "identifier",
            "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 3}},
            "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}},
            "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "illness": {"role": "sensitive", "diversity": {"distinct": 2}},
        },
        **keys,
    }


def released(folder: Path) -> list[dict[str, str]]:
    with (folder / "release.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def loss_of_the_core(mapping: dict[str, Any]) -> LocalBest:
    definition = from_mapping(mapping)
    with open_records(definition) as source:
        counted = collapse(definition, source, None)
    filled = counted.definition
    problem = problem_of(filled, counted.table, models_of(filled), loss_of(filled))
    *_, last = LocalSearch().search(problem, Limits(None, 0.0, None))
    assert isinstance(last.best, LocalBest)
    return last.best


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"suppression": "5%"},
        {"suppression": "5%", "suppressed": "mark"},
        {"missing": "basic"},
        {"output": "parquet"},
    ],
    ids=["none suppressed", "suppressed", "marked", "basic match", "parquet"],
)
def test_a_local_release_is_verified_and_every_class_has_k_records(
    tmp_path: Path, keys: dict[str, Any]
) -> None:
    write_table(tmp_path, missing=True)
    file = "release.parquet" if keys.get("output") == "parquet" else "release.csv"
    mapping = definition_in(tmp_path, **{**keys, "output": str(tmp_path / file)})
    result = shoal.run(mapping)
    best = loss_of_the_core(mapping)
    assert result.verified
    assert result.recoding == "local"
    assert result.loss == pytest.approx(best.loss, abs=1e-12)
    assert (result.suppressed, result.classes) == (best.suppressed, best.classes)
    for name in NAMES:
        kept = result.records - result.removed - result.suppressed
        assert sum(result.levels[name].values()) == kept
    assert max(len(result.levels[name]) for name in NAMES) > 1
    if file == "release.csv":
        rows = released(tmp_path)
        columns = [*NAMES, "illness"] if keys.get("suppressed") == "mark" else NAMES
        shown = [row for row in rows if any(row[name] for name in columns)]
        classes = Counter(tuple(row[name] for name in NAMES) for row in shown)
        assert min(classes.values()) >= 5
        assert len(classes) == result.classes
        assert len(shown) == result.records - result.removed - result.suppressed


@pytest.mark.parametrize(
    "keys",
    [{}, {"suppression": "10%"}, {"suppression": "10%", "suppressed": "mark"}],
    ids=["none suppressed", "suppressed", "marked"],
)
def test_every_class_of_a_local_release_has_k_persons(tmp_path: Path, keys: dict[str, Any]) -> None:
    write_table(tmp_path, missing=True)
    frame = pd.read_csv(tmp_path / "data.csv", dtype=str)
    frame["ward"] = [f"record {i}" for i in range(len(frame))]
    frame["name"] = [f"person {i % 70}" for i in range(len(frame))]
    frame.to_csv(tmp_path / "data.csv", index=False)
    mapping = definition_in(tmp_path, person="name", **keys)
    mapping["attributes"]["ward"] = "keep"
    result = shoal.run(mapping)
    assert result.verified
    persons: dict[tuple[str, ...], set[str]] = {}
    name_of = dict(zip(frame["ward"], frame["name"], strict=True))
    for row in released(tmp_path):
        if any(row[name] for name in (*NAMES, "illness")):
            labels = tuple(row[name] for name in NAMES)
            persons.setdefault(labels, set()).add(name_of[row["ward"]])
    assert min(map(len, persons.values())) == result.smallest_class_persons
    assert min(map(len, persons.values())) >= 5
    assert len(persons) == result.classes
    assert max(len(result.levels[name]) for name in NAMES) > 1


def test_the_verifier_accepts_the_file_with_its_result_and_refuses_others(tmp_path: Path) -> None:
    write_table(tmp_path)
    mapping = definition_in(tmp_path)
    result = shoal.run(mapping)
    stated = tmp_path / "result.json"
    write_result(result, stated)
    definition, path = from_mapping(mapping), tmp_path / "release.csv"
    assert verify_file(definition, path).safe
    assert verify_file(definition, path, stated=read_stated(stated)).safe
    changed = to_dict(result)
    top = max(map(int, changed["levels"]["zip"]))
    changed["levels"]["zip"] = {str(top): sum(changed["levels"]["zip"].values())}
    stated.write_text(json.dumps(changed), encoding="utf-8")
    verdict = verify_file(definition, path, stated=read_stated(stated))
    assert [each.name for each in verdict.failures] == ["level of zip"]
    text = path.read_text(encoding="utf-8")
    assert "*" in text
    full = from_mapping({**mapping, "recoding": "full-domain"})
    assert not verify_file(full, path).safe
    first = released(tmp_path)[0]["zip"]
    path.write_text(text.replace(f"\n{first},", "\n9x9,"), encoding="utf-8")
    assert "level of zip" in [each.name for each in verify_file(definition, path).failures]


def test_local_recoding_loses_less_than_full_domain(tmp_path: Path) -> None:
    write_table(tmp_path)
    local = shoal.run(definition_in(tmp_path))
    full = shoal.run(definition_in(tmp_path, recoding="full-domain"))
    assert full.recoding == "full-domain"
    assert local.bound <= local.loss < full.loss


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({"loss": "discernibility"}, "no-local-recoding"),
        ({"loss": "weighted"}, "no-local-recoding"),
    ],
    ids=["class loss", "level loss"],
)
def test_what_cannot_be_recoded_locally_is_refused_before_the_search(
    tmp_path: Path, keys: dict[str, Any], code: str
) -> None:
    write_table(tmp_path, records=3000)
    mapping = definition_in(tmp_path, **keys)
    events: list[Event] = []
    with pytest.raises(UserError) as error:
        shoal.run(mapping, observe=events.append)
    assert error.value.code == code
    assert "search" not in [getattr(event, "name", "") for event in events]
    assert not (tmp_path / "release.csv").exists()


def test_a_label_that_means_different_values_on_two_levels_is_refused(tmp_path: Path) -> None:
    write_table(tmp_path)
    mapping = definition_in(tmp_path)
    tree = {"f": {"m": ["f"]}, "m": {"f": ["m"]}}
    mapping["attributes"]["sex"]["hierarchy"] = {"tree": tree}
    with pytest.raises(UserError) as error:
        shoal.run(mapping)
    assert error.value.code == "ambiguous-label"
    mapping["attributes"]["sex"]["hierarchy"] = {"tree": {"any": {"f": ["f"], "m": ["m"]}}}
    assert shoal.run(mapping).verified


def test_a_wrong_recoding_is_a_mistake_of_the_definition(tmp_path: Path) -> None:
    with pytest.raises(BadDefinition, match="recoding"):
        from_mapping(definition_in(tmp_path, recoding="global"))


def test_the_commands_run_and_verify_a_local_release(tmp_path: Path) -> None:
    write_table(tmp_path)
    definition = tmp_path / "definition.json"
    mapping = definition_in(tmp_path, report=str(tmp_path / "report.html"))
    definition.write_text(json.dumps(mapping), encoding="utf-8")
    run = CliRunner()
    stated = str(tmp_path / "result.json")
    ran = run.invoke(app, ["run", str(definition), "--json", stated])
    assert ran.exit_code == 0, ran.output
    assert "2 to 3 of 3" in ran.output
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "2 to 3 of 3" in report
    assert "nothing any more" not in report
    levels = json.loads(Path(stated).read_text(encoding="utf-8"))["levels"]
    assert set(levels) == set(NAMES)
    assert all(isinstance(each, dict) for each in levels.values())
    release = str(tmp_path / "release.csv")
    verified = run.invoke(app, ["verify", release, "-d", str(definition), "--result", stated])
    assert verified.exit_code == 0, verified.output


@pytest.mark.parametrize("command", ["solutions", "lattice", "what-if", "frontier"])
def test_commands_about_nodes_refuse_a_local_definition(tmp_path: Path, command: str) -> None:
    write_table(tmp_path)
    definition = tmp_path / "definition.json"
    definition.write_text(json.dumps(definition_in(tmp_path)), encoding="utf-8")
    refused = CliRunner().invoke(app, [command, str(definition)]).exception
    assert isinstance(refused, UserError)
    assert refused.code == "full-domain-only"
    assert "one level for each column" in str(refused)


@pytest.mark.parametrize("missing", [False, True])
def test_a_frame_is_recoded_locally(tmp_path: Path, missing: bool) -> None:
    write_table(tmp_path, missing=missing)
    frame = pd.read_csv(tmp_path / "data.csv", dtype={"zip": str})
    attributes = definition_in(tmp_path)["attributes"]
    hierarchies = {name: attributes[name]["hierarchy"] for name in NAMES}
    found, result = shoal.anonymize(
        frame,
        hierarchies,
        identifiers=["name"],
        attributes={"illness": attributes["illness"]},
        recoding="local",
        with_result=True,
    )
    assert result.verified
    assert found.groupby(list(NAMES), dropna=False).size().min() >= 5


def test_xml_and_json_spell_the_recoding_too(tmp_path: Path) -> None:
    definition = from_mapping(definition_in(tmp_path))
    path = tmp_path / "definition.xml"
    path.write_text(to_xml(definition), encoding="utf-8")
    assert read(path).recoding == "local"
    assert json_schema()["properties"]["recoding"]["enum"] == ["full-domain", "local"]


def test_a_class_of_blank_records_may_look_like_marked_ones(tmp_path: Path) -> None:
    rows = ["zip,note", *["?,n"] * 3, *["123,n"] * 2]
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    result = shoal.run(
        {
            "source": str(tmp_path / "data.csv"),
            "output": str(tmp_path / "release.csv"),
            "k": 2,
            "recoding": "local",
            "suppressed": "mark",
            "missing": {"values": ["?"]},
            "attributes": {
                "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 3}},
                "note": "keep",
            },
        }
    )
    assert result.verified
    assert result.levels == {"zip": {0: 5}}


@pytest.mark.parametrize("kind", ["several", "renamed", "database"])
def test_other_sources_of_the_same_records_give_the_same_bytes(tmp_path: Path, kind: str) -> None:
    write_table(tmp_path, missing=True)
    shoal.run(definition_in(tmp_path))
    expected = (tmp_path / "release.csv").read_bytes()
    frame = pd.read_csv(tmp_path / "data.csv", dtype=str)
    source: Any = [str(tmp_path / "first.csv"), str(tmp_path / "second.csv")]
    frame[:70].to_csv(source[0], index=False)
    frame[70:].to_csv(source[1], index=False)
    if kind == "renamed":
        frame[70:].rename(columns={"zip": "age", "age": "zip"}).to_csv(source[1], index=False)
        source[1] = {"path": source[1], "rename": {"zip": "age", "age": "zip"}}
    if kind == "database":
        address = tmp_path / "people.db"
        with sqlite3.connect(address) as database:
            frame.to_sql("people", database, index=False)
        source = {"url": f"sqlite:///{address}", "table": "people"}
    assert shoal.run(definition_in(tmp_path, source=source)).verified
    assert (tmp_path / "release.csv").read_bytes() == expected


def test_a_folder_is_partitioned_by_labels_of_several_levels(tmp_path: Path) -> None:
    write_table(tmp_path)
    output = {"path": str(tmp_path / "parts"), "format": "parquet", "partition by": ["zip"]}
    result = shoal.run(definition_in(tmp_path, output=output))
    assert result.verified
    assert len(result.levels["zip"]) > 1
    table = pq.ParquetDataset(tmp_path / "parts").read()
    classes = Counter(zip(*(table[name].to_pylist() for name in NAMES), strict=True))
    assert (len(classes), classes.total()) == (result.classes, result.records)
    assert min(classes.values()) == result.smallest_class


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"loss": "entropy", "suppression": "5%"},
        {"person": "name", "suppressed": "mark", "suppression": "5%"},
        {"missing": "basic", "source": "database"},
    ],
    ids=["plain", "entropy", "persons", "database"],
)
def test_a_table_with_too_many_tuples_is_recoded_from_higher_levels_up(
    tmp_path: Path, keys: dict[str, Any]
) -> None:
    """Every person has two records, which differ in the last digits of their zip alone."""
    write_table(tmp_path, records=1000, missing=True)
    mapping = definition_in(tmp_path, **keys)
    frame = pd.read_csv(tmp_path / "data.csv", dtype=str)
    frame = pd.concat([frame, frame])
    frame["zip"] += [f"{i % 97:02}" for i in range(len(frame))]
    frame.to_csv(tmp_path / "data.csv", index=False)
    mapping["attributes"]["zip"]["hierarchy"] = {"mask": 5}
    if keys.get("source") == "database":
        with sqlite3.connect(tmp_path / "people.db") as database:
            frame.to_sql("people", database, index=False)
        mapping["source"] = {"url": f"sqlite:///{tmp_path / 'people.db'}", "table": "people"}
    finest = shoal.run(mapping)
    result = shoal.run({**mapping, "engine": {"tuples": 1900}})
    assert not finest.raised
    assert result.raised["zip"] >= 1
    assert all(min(result.levels[name]) >= level for name, level in result.raised.items())
    assert result.verified
    assert result.status == "feasible"
    assert 0 < result.bound <= min(finest.loss, result.loss)
    shown = [row for row in released(tmp_path) if any(row[name] for name in (*NAMES, "illness"))]
    classes = Counter(tuple(row[name] for name in NAMES) for row in shown)
    assert (len(classes), min(classes.values())) == (result.classes, result.smallest_class)
    assert min(classes.values()) >= 5
    full = shoal.run({**mapping, "engine": {"tuples": 1900}, "recoding": "full-domain"})
    assert result.loss <= full.loss


def visits_in(folder: Path) -> dict[str, Any]:
    """A table with several records of each person, and its definition."""
    write_table(folder, missing=True)
    frame = pd.read_csv(folder / "data.csv", dtype=str)
    frame["name"] = [f"person {i % 70}" for i in range(len(frame))]
    frame.to_csv(folder / "data.csv", index=False)
    return definition_in(folder, person="name", suppression="5%")


def test_the_persons_of_a_local_release_are_verified_by_its_assignment(tmp_path: Path) -> None:
    definition, release = tmp_path / "definition.json", str(tmp_path / "release.csv")
    definition.write_text(json.dumps(visits_in(tmp_path)), encoding="utf-8")
    stated, assignment = str(tmp_path / "result.json"), tmp_path / "assignment.json"
    run = CliRunner()
    options = ["--json", stated, "--assignment", str(assignment)]
    ran = run.invoke(app, ["run", str(definition), *options])
    assert ran.exit_code == 0, ran.output
    verify = ["verify", release, "-d", str(definition), "--result", stated]
    without = run.invoke(app, verify)
    assert without.exit_code == 4
    assert "--assignment" in without.output
    verified = run.invoke(app, [*verify, "--assignment", str(assignment)])
    assert verified.exit_code == 0, verified.output
    assert shoal.verify(release, definition, assignment=assignment).safe


@pytest.mark.parametrize("change", ["swapped", "suppressed", "fewer", "renamed"])
def test_a_changed_assignment_is_refused(tmp_path: Path, change: str) -> None:
    mapping, path = visits_in(tmp_path), tmp_path / "assignment.json"
    shoal.run(mapping, assignment=path)
    found = json.loads(path.read_text(encoding="utf-8"))
    tuples = found["tuples"]
    other = next(i for i, each in enumerate(tuples) if each not in (None, tuples[0]))
    match change:
        case "swapped":
            tuples[0], tuples[other] = tuples[other], tuples[0]
        case "suppressed":
            tuples[other] = None
        case "fewer":
            tuples.pop()
        case "renamed":
            found["quasi-identifiers"].reverse()
    path.write_text(json.dumps(found), encoding="utf-8")
    verdict = shoal.verify(tmp_path / "release.csv", mapping, assignment=path)
    assert "persons" in [finding.name for finding in verdict.failures]


@pytest.mark.parametrize(
    "content",
    ["", "{}", '{"shoal assignment": 2}', "[1]"]
    + [
        json.dumps({"shoal assignment": 1, "quasi-identifiers": ["a"], "classes": c, "tuples": t})
        for c, t in [([["x"]], [1]), ([["x"]], [-1]), ([["x", "y"]], [0]), ([[1]], [0]), (3, [])]
    ],
)
def test_a_file_that_is_no_assignment_is_refused(tmp_path: Path, content: str) -> None:
    mapping, path = visits_in(tmp_path), tmp_path / "assignment.json"
    shoal.run(mapping)
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UserError) as error:
        shoal.verify(tmp_path / "release.csv", mapping, assignment=path)
    assert error.value.code == "bad-assignment"


@pytest.mark.parametrize(
    "keys", [{"recoding": "full-domain"}, {"engine": {"tuples": 197}}], ids=["full", "raised"]
)
def test_where_there_is_no_assignment_nothing_is_released(
    tmp_path: Path, keys: dict[str, Any]
) -> None:
    mapping, path = {**visits_in(tmp_path), **keys, "person": None}, tmp_path / "assignment.json"
    with pytest.raises(UserError) as error:
        shoal.run(mapping, assignment=path)
    assert error.value.code == "no-assignment"
    assert not path.exists()
    assert not (tmp_path / "release.csv").exists()


@pytest.mark.parametrize("person", [None, "id"])
def test_missing_is_the_only_label_of_a_hierarchy_of_one_level(
    tmp_path: Path, person: str | None
) -> None:
    (tmp_path / "place.csv").write_text("here\n")
    rows = ["here,f,1", "here,m,2", "here,m,3", ",f,4", ",f,5", ",m,6"]
    (tmp_path / "data.csv").write_text("\n".join(["place,sex,id", *rows, ""]))
    definition = {
        "source": str(tmp_path / "data.csv"),
        "output": str(tmp_path / "release.csv"),
        "k": 3,
        "recoding": "local",
        "attributes": {
            "place": {"role": "quasi-identifier", "hierarchy": str(tmp_path / "place.csv")},
            "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
        },
        **({"others": "drop"} if person is None else {"person": person}),
    }
    result = shoal.run(definition)
    assert (result.loss, result.suppressed, result.verified) == (0, 0, True)
    assert Counter(tuple(row.values()) for row in released(tmp_path)) == {
        ("here", "f"): 3,
        ("here", "m"): 3,
    }
    with pytest.raises(UserError, match="the only label of a hierarchy of one level"):
        shoal.run(definition, assignment=tmp_path / "assignment.json")
