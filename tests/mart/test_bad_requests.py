"""Bad input to a data mart: each a clear refusal, an entry in the log, and nothing written."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from shoal import mart
from shoal.errors import ShoalError

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
    "nothing-selected": nothing_selected,
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
