"""Bad input to a data mart: each a clear refusal, an entry in the log, and nothing written."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shoal import mart
from shoal.errors import ShoalError
from shoal.events import Phase

pytestmark = pytest.mark.slow

PATIENTS = [[f"p{i}", f"g{i % 2}"] for i in range(8)]
FINDINGS = [[f"f{i}", f"p{i % 8}", "ab"[i % 2], "Rarissimum" if i == 3 else "0"] for i in range(16)]
DEATHS = [[f"p{i}", "2001-02-03", "1999-01-02"] for i in range(8)]


@dataclass
class Bench:
    """A small mart in a folder, whose catalog and sources a test spoils before it asks."""

    folder: Path
    catalog: dict[str, Any] = field(default_factory=dict)
    request: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.write("patient", ["id", "group"], PATIENTS)
        self.write("findings", ["prep", "pat", "T", "N"], FINDINGS)
        self.write("death", ["who", "died", "born"], DEATHS)
        letter = {"role": "quasi-identifier", "hierarchy": "suppress"}
        self.catalog = {
            "mart": "bench",
            "log": "log.jsonl",
            "person": {"source": "patient", "columns": ["id"]},
            "sources": {
                "patient": {"source": "patient.csv", "columns": {"group": dict(letter)}},
                "findings": {
                    "source": "findings.csv",
                    "columns": {"T": dict(letter), "N": dict(letter)},
                },
                "death": {
                    "source": "death.csv",
                    "untransformed": "only the registry knows these days",
                    "columns": {"days": {"role": "keep", "derive": "days(died, born)"}},
                },
            },
            "links": [
                {"between": {"findings": "pat", "patient": "id"}, "kind": "many-to-one"},
                {"between": {"death": "who", "patient": "id"}, "kind": "one-to-one"},
            ],
        }
        self.request = {"asker": "somebody", "project": ["group", "T", "days"], "k": 2}

    def write(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        with (self.folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([columns, *rows])

    @property
    def output(self) -> Path:
        return self.folder / "out.csv"

    @property
    def log(self) -> Path:
        return self.folder / "log.jsonl"

    def ask(self, **changes: Any) -> mart.MartResult:
        return mart.request(
            mart.catalog_from_mapping(self.catalog, self.folder),
            mart.request_from_mapping({**self.request, **changes}, self.folder),
            output=self.output,
        )

    def refusal(self, **changes: Any) -> ShoalError:
        """The error of a request, after checking that it left a log entry and nothing else."""
        with pytest.raises(ShoalError) as raised:
            self.ask(**changes)
        assert not self.output.exists()
        assert raised.value.hint
        last = mart.Log(self.log).entries()[-1]
        assert (last.kind, last.code, last.asker) == ("refused", raised.value.code, "somebody")
        text = self.log.read_text(encoding="utf-8") + str(raised.value)
        assert "Rarissimum" not in text
        return raised.value


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_good_request_is_released_and_logged(bench: Bench) -> None:
    result = bench.ask()
    assert result.verified
    assert bench.output.exists()
    assert [entry.kind for entry in mart.Log(bench.log).entries()] == ["released"]


Spoil = Callable[[Bench], Mapping[str, Any] | None]


def unknown_column(bench: Bench) -> Mapping[str, Any]:
    return {"project": ["groop"]}


def unknown_selected_column(bench: Bench) -> Mapping[str, Any]:
    return {"select": ["TT = a"]}


def unknown_value(bench: Bench) -> Mapping[str, Any]:
    return {"select": ["T = z"]}


def values_without_order(bench: Bench) -> Mapping[str, Any]:
    return {"select": ["T >= a"]}


def nothing_selected(bench: Bench) -> Mapping[str, Any]:
    return {"select": ["T is missing"]}


def fewer_than_k_persons(bench: Bench) -> Mapping[str, Any]:
    return {"project": ["T"], "select": ["N != 0"]}


def k_below_the_policy(bench: Bench) -> Mapping[str, Any]:
    bench.catalog["policy"] = {"k": 5}
    return {"k": 2}


def k_above_all_persons(bench: Bench) -> Mapping[str, Any]:
    return {"k": 9}


def no_levels_within_limits(bench: Bench) -> Mapping[str, Any]:
    return {"project": ["N"], "limits": {"N": 0}}


def duplicate_keys(bench: Bench) -> None:
    bench.write("death", ["who", "died", "born"], [*DEATHS, DEATHS[0]])


def missing_keys(bench: Bench) -> None:
    bench.write("findings", ["prep", "pat", "T", "N"], [*FINDINGS, ["f99", "", "a", "0"]])


def missing_persons(bench: Bench) -> None:
    bench.write("patient", ["id", "group"], [*PATIENTS, ["", "g1"]])


def division_by_zero(bench: Bench) -> None:
    bench.catalog["sources"]["death"]["columns"]["days"]["derive"] = "1 / days(died, died)"


def dates_that_are_none(bench: Bench) -> None:
    bench.write("death", ["who", "died", "born"], [*DEATHS[1:], ["p0", "Rarissimum", "1999-01-02"]])


def a_source_that_is_gone(bench: Bench) -> None:
    (bench.folder / "death.csv").unlink()


def a_key_column_that_is_gone(bench: Bench) -> None:
    bench.write("death", ["whom", "died", "born"], DEATHS)


REFUSED: Mapping[str, Spoil] = {
    "unknown-column": unknown_column,
    "unknown-column ": unknown_selected_column,
    "unknown-value": unknown_value,
    "no-order": values_without_order,
    "few-persons  ": nothing_selected,
    "few-persons": fewer_than_k_persons,
    "policy": k_below_the_policy,
    "few-persons ": k_above_all_persons,
    "infeasible": no_levels_within_limits,
    "duplicate-key": duplicate_keys,
    "missing-key": missing_keys,
    "missing-key ": missing_persons,
    "division-by-zero": division_by_zero,
    "not-a-date": dates_that_are_none,
    "no-file": a_source_that_is_gone,
    "unknown-column  ": a_key_column_that_is_gone,
}


@pytest.mark.parametrize("code", REFUSED)
def test_bad_input_is_refused_with_a_reason_and_logged(bench: Bench, code: str) -> None:
    changes = REFUSED[code](bench) or {}
    assert bench.refusal(**changes).code == code.strip()


CATALOGS: Mapping[str, Callable[[dict[str, Any]], None]] = {
    "cyclic-links": lambda catalog: catalog["links"].append(
        {"between": {"findings": "pat", "death": "who"}, "kind": "many-to-one"}
    ),
    "ambiguous-links": lambda catalog: catalog["links"].append(
        {"between": {"findings": "prep", "patient": "id"}, "kind": "many-to-one"}
    ),
    "expression-too-deep": lambda catalog: catalog["sources"]["death"]["columns"]["days"].update(
        derive="(" * 200 + "1" + ")" * 200
    ),
    "bad-expression": lambda catalog: catalog["sources"]["death"]["columns"]["days"].update(
        derive="'1'); DROP TABLE patient; --"
    ),
    "bad-definition": lambda catalog: catalog["links"].pop(),
}


@pytest.mark.parametrize("code", CATALOGS)
@pytest.mark.parametrize("is_file", [False, True], ids=["mapping", "file"])
def test_a_catalog_with_a_mistake_is_refused_and_logged(
    bench: Bench, code: str, is_file: bool
) -> None:
    CATALOGS[code](bench.catalog)
    bench.catalog["log"] = str(bench.log)
    path = bench.folder / "catalog.json"
    path.write_text(json.dumps(bench.catalog), encoding="utf-8")
    with pytest.raises(ShoalError) as raised:
        mart.request(path if is_file else bench.catalog, bench.request, output=bench.output)
    assert raised.value.code == code
    assert mart.Log(bench.log).entries()[-1].code == code
    assert not bench.output.exists()


def test_a_log_that_is_a_source_is_named_as_the_mistake_and_stays_as_it_is(bench: Bench) -> None:
    before = (bench.folder / "patient.csv").read_bytes()
    bench.catalog["log"] = "patient.csv"
    path = bench.folder / "catalog.json"
    path.write_text(json.dumps(bench.catalog), encoding="utf-8")
    with pytest.raises(ShoalError) as raised:
        mart.request(path, bench.request, output=bench.output)
    assert raised.value.code == "bad-definition"
    assert (bench.folder / "patient.csv").read_bytes() == before


def forge(log: Path) -> None:
    text = log.read_text(encoding="utf-8")
    log.write_text(text.replace("somebody", "nobodyxx"), encoding="utf-8")


def cut_off_the_last_entry(log: Path) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-1]))


def remove(log: Path) -> None:
    log.unlink()


@pytest.mark.parametrize("spoil", [forge, cut_off_the_last_entry, remove])
def test_no_request_is_answered_while_the_log_is_broken(
    bench: Bench, spoil: Callable[[Path], None]
) -> None:
    bench.ask()
    bench.output.unlink()
    spoil(bench.log)
    with pytest.raises(ShoalError) as raised:
        bench.ask()
    assert raised.value.code == "broken-log"
    assert not bench.output.exists()
    assert not mart.check_log(mart.catalog_from_mapping(bench.catalog, bench.folder)).verified


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_a_source_that_goes_while_a_request_runs_ends_it(bench: Bench, kind: str) -> None:
    path = bench.folder / f"findings.{kind}"
    if kind != "csv":
        rows = [dict(zip(["prep", "pat", "T", "N"], row, strict=True)) for row in FINDINGS]
        path.write_text(json.dumps(rows), encoding="utf-8")
        if kind == "parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        bench.catalog["sources"]["findings"]["source"] = path.name

    def take_away(event: object) -> None:
        if isinstance(event, Phase) and event.name == "link":
            path.unlink()

    with pytest.raises(ShoalError) as raised:
        mart.request(
            mart.catalog_from_mapping(bench.catalog, bench.folder),
            mart.request_from_mapping({**bench.request, "select": ["T = a"]}, bench.folder),
            output=bench.output,
            observe=take_away,
        )
    assert raised.value.code == "no-file"
    assert mart.Log(bench.log).entries()[-1].code == "no-file"
    assert not bench.output.exists()


def test_a_suppressed_value_is_nowhere_to_be_read(bench: Bench) -> None:
    bench.catalog["policy"] = {"suppression": "10%"}
    report = bench.folder / "report.html"
    result = mart.request(
        mart.catalog_from_mapping(bench.catalog, bench.folder),
        {"asker": "somebody", "project": ["N", "T"], "suppression": "10%", "limits": {"N": 0}},
        output=bench.output,
        report=report,
    )
    assert result.rows_suppressed == 1
    written = [path.read_text(encoding="utf-8") for path in (bench.output, bench.log, report)]
    assert "Rarissimum" not in "".join([*written, result.to_json(), str(result)])
