"""Where a release of a mart can go, and what the command says of it."""

from __future__ import annotations

import json
import resource
import secrets
import signal
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

import commands
import servers
from mart.clinic import Clinic, many
from shoal import mart as marts
from shoal.errors import BadOutput, Refused
from shoal.events import Event, Phase

pytestmark = pytest.mark.slow

Texts = list[tuple[str, ...]]


def texts(rows: Iterable[Iterable[Any]]) -> Texts:
    return sorted(tuple(map(str, row)) for row in rows)


def as_csv(clinic: Clinic) -> Texts:
    """The release of the columns below as a CSV file has it."""
    clinic.ask("PT", "age", "sex", k=3)
    return texts(row.values() for row in clinic.released())


def test_a_parquet_file_has_the_same_rows_as_a_csv_file(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    path = tmp_path / "release.parquet"
    expected = as_csv(clinic)
    result = clinic.ask("PT", "age", "sex", k=3, output=path)
    assert texts(row.values() for row in pq.read_table(path).to_pylist()) == expected
    assert result.output == str(path)


def test_a_table_of_sqlite_has_the_same_rows(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    expected = as_csv(clinic)
    path = tmp_path / "study.sqlite"
    sqlite3.connect(path).close()
    clinic.ask("PT", "age", "sex", k=3, output={"url": f"sqlite:///{path}", "table": "release"})
    with sqlite3.connect(path) as connection:
        assert texts(connection.execute("SELECT * FROM release")) == expected


def test_sources_and_release_can_be_tables_of_postgresql(tmp_path: Path, postgres_url: str) -> None:
    clinic = many(tmp_path)
    expected = as_csv(clinic)
    suffix = secrets.token_hex(3)
    names = ["PatId", "sex"]
    patients = pa.table({name: [row[i] for row in clinic.patients] for i, name in enumerate(names)})
    servers.load(postgres_url, f"patient_{suffix}", patients)
    catalog = clinic.catalog
    source = {"url": postgres_url, "table": f"patient_{suffix}"}
    catalog["sources"]["patient"]["source"] = source
    asked = {"asker": "oncology", "project": ["PT", "age", "sex"], "k": 3}
    target = {"url": postgres_url, "table": f"release_{suffix}"}
    marts.request(catalog, asked, output=target)
    assert texts(servers.rows_of(postgres_url, f"release_{suffix}")) == expected
    with pytest.raises(BadOutput) as refusal:
        marts.request(catalog, asked, output={**source, "replace": True})
    assert refusal.value.code == "output-is-source"


def test_arrays_and_many_columns_pass_untouched(tmp_path: Path) -> None:
    clinic = many(tmp_path, 12)
    clinic.write()
    profiles = {f"e{i}": [i + row / 7 for row in range(12)] for i in range(200)}
    vectors = [[row, None, row / 3] for row in range(12)]
    table = pa.table({"PatId": list(range(12)), "vector": vectors, **profiles})
    pq.write_table(table, tmp_path / "genes.parquet")
    catalog = clinic.catalog
    catalog["sources"]["genes"] = {
        "source": str(tmp_path / "genes.parquet"),
        "untransformed": "nobody else measures them",
        "columns": dict.fromkeys([*profiles, "vector"], "keep"),
    }
    catalog["links"].append(
        {"between": {"genes": "PatId", "patient": "PatId"}, "kind": "one-to-one"}
    )
    path = tmp_path / "release.parquet"
    marts.request(catalog, {"project": ["sex", "genes.*"]}, output=path)
    released = pq.read_table(path)
    assert sorted(released.column("vector").to_pylist()) == sorted(vectors)
    assert sorted(released.column("e7").to_pylist()) == sorted(profiles["e7"])
    assert released.num_columns == 202


@pytest.mark.parametrize("form", [".html", ".md", ".txt", ".json"])
def test_a_report_says_what_was_done(tmp_path: Path, form: str) -> None:
    clinic = many(tmp_path)
    clinic.write()
    report = tmp_path / f"report{form}"
    asked = {"project": ["PT", "age"], "select": ["PT = 1"]}
    marts.request(clinic.catalog, asked, output=clinic.output, report=report)
    said = report.read_text(encoding="utf-8")
    assert "clinic" in said
    assert "findings" in said
    assert "label of 4 values" in said


def test_where_only_the_report_cannot_be_written_the_release_is_said_to_be_published(
    tmp_path: Path,
) -> None:
    clinic = many(tmp_path)
    clinic.write()
    report = tmp_path / "report.html"
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_the_disk(event: Event) -> None:
        if event == Phase("publish"):
            resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, limit[1]))

    try:
        with pytest.raises(BadOutput) as refused:
            marts.request(
                clinic.catalog,
                {"project": ["PT", "age"]},
                output=clinic.output,
                report=report,
                observe=fill_the_disk,
            )
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    said = f"the release itself was published: {clinic.output}"
    assert refused.value.what.endswith(said)
    assert len(clinic.released()) == 60
    assert [entry.kind for entry in clinic.entries] == ["released", "failed"]


def files_of(clinic: Clinic, request: Mapping[str, Any]) -> tuple[Path, Path]:
    """The catalog and a request as files."""
    clinic.write()
    catalog, asked = clinic.folder / "catalog.yaml", clinic.folder / "request.yaml"
    catalog.write_text(yaml.safe_dump(clinic.catalog), encoding="utf-8")
    asked.write_text(yaml.safe_dump(dict(request)), encoding="utf-8")
    return catalog, asked


def test_the_command_answers_a_request(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    catalog, request = files_of(clinic, {"project": ["PT", "age", "sex"]})
    result = tmp_path / "result.json"
    options = ("-o", clinic.output, "--as", "oncology", "--k", "3", "--json", result)
    done = commands.shoal("mart", "request", catalog, request, *options, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Released and verified." in done.stdout
    found = json.loads(result.read_text(encoding="utf-8"))
    assert (found["k"], found["asker"], found["verified"]) == (3, "oncology", True)
    assert found["levels"].keys() == {"PT", "age", "sex"}
    assert found["rows_released"] == len(clinic.released()) == 60
    assert found["digest"] in done.stdout
    log = commands.shoal("mart", "log", catalog, "--json", "-", folder=tmp_path)
    assert [each["kind"] for each in json.loads(log.stdout)["entries"]] == ["released"]
    check = ("mart", "log", catalog, "--check", "--contains", found["digest"])
    assert commands.shoal(*check, folder=tmp_path).returncode == 0
    lacking = ("mart", "log", catalog, "--check", "--contains", "0" * 64)
    assert commands.shoal(*lacking, folder=tmp_path).returncode == 2


def test_the_commands_check_and_describe_a_catalog(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    catalog, _ = files_of(clinic, {"project": ["sex"]})
    checked = commands.shoal("mart", "check", catalog, folder=tmp_path)
    assert checked.returncode == 0, checked.stderr
    described = commands.shoal("mart", "describe", catalog, "--json", "-", folder=tmp_path)
    assert described.returncode == 0
    assert "therapy" in described.stdout
    (tmp_path / "survival.csv").unlink()
    assert commands.shoal("mart", "check", catalog, folder=tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("keys", "code"),
    [({"project": ["sxe"]}, 2), ({"project": ["age"], "limits": {"age": 0}}, 3), ({"k": 2}, 4)],
)
def test_the_command_ends_with_the_code_of_its_refusal(
    tmp_path: Path, keys: dict[str, Any], code: int
) -> None:
    clinic = many(tmp_path)
    clinic.keys = {"policy": {"k": 3}}
    catalog, request = files_of(clinic, {"project": ["sex"], **keys})
    asked = ("mart", "request", catalog, request, "-o", clinic.output)
    done = commands.shoal(*asked, folder=tmp_path)
    assert done.returncode == code
    assert done.stderr.count("error: ") == 1
    assert "Traceback" not in done.stderr


def test_the_command_overwrites_nothing_with_its_json(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    catalog, request = files_of(clinic, {"project": ["sex"]})
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for name in ("catalog.yaml", "request.yaml", "patient.csv", "log.jsonl"):
        target = ("--json", tmp_path / name)
        asked = ("mart", "request", catalog, request, "-o", clinic.output, *target)
        done = commands.shoal(*asked, folder=tmp_path)
        assert done.returncode == 2
        assert "would-overwrite" in done.stderr
        if name != "request.yaml":
            done = commands.shoal("mart", "describe", catalog, *target, folder=tmp_path)
            assert "would-overwrite" in done.stderr
    assert all(path.read_bytes() == content for path, content in before.items())


def test_releases_that_tell_too_much_together_are_refused(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    clinic.ask("sex", "age", limits={"sex": 0})
    clinic.output.unlink()
    asked: dict[str, Any] = {"select": ["age != 20"], "limits": {"sex": 0}}
    with pytest.raises(Refused) as refusal:
        clinic.ask("sex", "PT", **asked)
    assert (refusal.value.code, refusal.value.exit_code) == ("overlap", 4)
    assert "entry 1" in refusal.value.what
    assert [entry.kind for entry in clinic.entries] == ["released", "refused"]
    assert not clinic.output.exists()
    clinic.keys = {"policy": {"overlap": "report"}}
    result = clinic.ask("sex", "PT", **asked)
    assert result.overlaps
    assert result.to_dict()["overlaps"][0]["earlier"] == [1]
    assert "Overlaps with earlier releases" in str(result)


def test_another_asker_is_compared_only_where_the_policy_says_so(tmp_path: Path) -> None:
    clinic = many(tmp_path)
    clinic.ask("sex", "age", limits={"sex": 0})
    asked: dict[str, Any] = {"select": ["age != 20"], "limits": {"sex": 0}, "asker": "press"}
    clinic.keys = {"policy": {"across": "all"}}
    with pytest.raises(Refused):
        clinic.ask("sex", "PT", **asked)
    clinic.keys = {}
    assert clinic.ask("sex", "PT", **asked).overlaps == ()


def test_an_interrupted_command_ends_with_130_and_leaves_an_entry(tmp_path: Path) -> None:
    clinic = many(tmp_path, 3000, findings=2)
    catalog, request = files_of(clinic, {"project": ["PT", "age", "sex", "cause"]})
    asked = ("mart", "request", catalog, request, "-o", clinic.output)
    process = commands.start(*asked, folder=tmp_path)
    assert process.stderr is not None
    while "Reading" not in (line := process.stderr.readline()):
        assert line, "it ended before it was interrupted"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=commands.TIME_LIMIT)
    assert process.returncode == 130
    (entry,) = clinic.entries
    assert (entry.kind, entry.code) == ("failed", "interrupted")
    assert not clinic.output.exists()
    assert commands.leftovers(tmp_path) == []
