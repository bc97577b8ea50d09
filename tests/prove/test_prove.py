"""Some seeded trials of each kind, and that a Shoal which breaks its promise is found out."""

from __future__ import annotations

import dataclasses
import io
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from subprocess import CompletedProcess
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import shoal
from prove import (
    changing_source,
    clock,
    full_disk,
    kills,
    little_memory,
    lost_connections,
    read_only,
    report,
    together,
)
from prove.command import KINDS, main, prove
from prove.judge import Demands, ValueDemand, faults, meaning
from prove.replacing import Replacing
from prove.tables import Grid
from prove.tally import Tally, table
from prove.trial import CANARY, Services

pytestmark = pytest.mark.slow

TRIALS = {
    "releases": 12,
    "safety": 12,
    "spark": 5,
    "optimality": 8,
    "tampering": 6,
    "determinism": 2,
    "overwriting": 7,
    "definitions": 20,
    "data": 12,
    "hierarchies": 8,
    "expressions": 5,
}
"""How many trials of a kind are tried here; one of the others."""

OF_THE_MACHINE = {"clock", "full-disk"}
"""Kinds that are declined where a library is not installed, or nothing may be mounted."""


def tally(kind: str, services: Services, trials: int) -> Tally:
    found = prove([kind], 1, lambda it: it.trials < trials, services, io.StringIO())
    return found[0]


def withstands(kind: str, services: Services) -> None:
    trials = TRIALS.get(kind, 1)
    found = tally(kind, services, trials)
    assert found.failures == []
    assert found.trials == trials
    if kind not in OF_THE_MACHINE:
        assert found.declined.total() < found.trials, "no trial went as far as the judge"


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "spark"])
def test_shoal_withstands_trials_of_each_kind(
    kind: str, postgres_url: str, mariadb_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of accidents, one in a trial is enough here."""
    for module in (*FAULTS, together):
        monkeypatch.setattr(module, "ROUNDS" if module is together else "RUNS", 1)
    monkeypatch.setattr(kills, "KILLS", 3)
    withstands(kind, Services(postgres_url, mariadb_url))


def test_shoal_withstands_trials_with_spark(spark_session: Any) -> None:
    withstands("spark", Services(spark=spark_session))


FAULTS = (changing_source, clock, full_disk, little_memory, lost_connections, read_only)

DEMANDS = Demands(k=2, quasi=("q",), kept=("serial", "w"), suppression=Fraction(1, 4))
SOURCE = Grid(("serial", "name", "q", "w"), tuple((i, f"n{i}", 20 + i // 2, "x") for i in range(4)))
GOOD = Grid(("serial", "q", "w"), tuple((i, 20 + i // 2, "x") for i in range(4)))


def changed(row: int, column: int, cell: Any) -> Grid:
    rows = [list(each) for each in GOOD.rows]
    rows[row][column] = cell
    return Grid(GOOD.names, tuple(map(tuple, rows)))


def test_the_judge_has_nothing_against_a_good_release() -> None:
    assert faults(DEMANDS, SOURCE, GOOD) == []


@pytest.mark.parametrize(
    "bad",
    [
        changed(0, 1, 21),
        changed(0, 1, "20"),
        changed(0, 1, 20.0),
        changed(0, 1, None),
        changed(0, 2, "y"),
        changed(0, 2, None),
        changed(0, 0, 9),
        changed(0, 0, 1),
        Grid(GOOD.names, GOOD.rows[:2]),
        Grid(GOOD.names, GOOD.rows + GOOD.rows),
        Grid((*GOOD.names, "name"), tuple((*row, "n") for row in GOOD.rows)),
        Grid(("serial", "q"), tuple(row[:2] for row in GOOD.rows)),
    ],
)
def test_the_judge_sees_what_is_unsafe_or_wrong(bad: Grid) -> None:
    assert faults(DEMANDS, SOURCE, bad)


def test_the_judge_counts_persons_and_values() -> None:
    one_person = Grid(SOURCE.names, tuple((i, "ann", q, w) for i, _, q, w in SOURCE.rows))
    by_persons = dataclasses.replace(DEMANDS, person="name")
    assert faults(by_persons, SOURCE, GOOD) == []
    assert faults(by_persons, one_person, GOOD)
    diverse = dataclasses.replace(
        DEMANDS, kept=("serial",), sensitive={"w": ValueDemand(distinct=2)}
    )
    assert faults(diverse, SOURCE, GOOD)
    capped = dataclasses.replace(diverse, sensitive={"w": ValueDemand(alpha=Fraction(1, 2))})
    assert faults(capped, SOURCE, GOOD)


@pytest.mark.parametrize(
    ("demand", "safe"),
    [
        (ValueDemand(entropy=2.8), True),
        (ValueDemand(entropy=3), False),
        (ValueDemand(recursive=(Fraction(2), 2)), True),
        (ValueDemand(recursive=(Fraction(1), 2)), False),
        (ValueDemand(recursive=(Fraction(9), 4)), False),
        (ValueDemand(closeness=Fraction("0.25")), True),
        (ValueDemand(closeness=Fraction("0.24")), False),
        (ValueDemand(closeness=Fraction("0.1667"), ordered=True), True),
        (ValueDemand(closeness=Fraction("0.1666"), ordered=True), False),
    ],
)
def test_the_judge_has_formulas_of_its_own_for_each_demand(demand: ValueDemand, safe: bool) -> None:
    """A class with 9, 10, 10 and 20 in a table that has each of 9, 10, 20 and 21 as often.

    The equal distance is 1/4. In their order the sums of shares differ by 0, 1/4, 1/4 and 0, over
    three steps: the ordered distance is 1/6.
    """
    values = [9, 10, 10, 20, 9, 21, 21, 9, 10, 20, 20, 21]
    source = Grid(("serial", "q", "w"), tuple((i, i // 4, w) for i, w in enumerate(values)))
    whole = Demands(k=4, quasi=("q",), kept=("serial",), sensitive={"w": demand}, suppression=8)
    release = Grid(source.names, source.rows[:4])
    assert (faults(whole, source, release) == []) == safe


def test_the_judge_takes_equal_numbers_for_one_value_and_texts_as_they_are() -> None:
    assert len({meaning(cell) for cell in (1, 1.0, Decimal("1.00"), np.float32(1), "1")}) == 1
    assert len({meaning(cell) for cell in (0.0, -0.0, 0)}) == 1
    assert len({meaning(cell) for cell in ("1", "01", "1.0", "1e0", "a", "A", True)}) == 7


def test_the_judge_lets_only_local_recodings_give_one_value_several_labels() -> None:
    """Records with q 20 are released under a and b, which their other column decides."""
    source = Grid(("serial", "q", "r"), tuple((i, 20, i // 2) for i in range(4)))
    release = Grid(source.names, tuple((i, "ab"[i // 2], "*") for i in range(4)))
    plain = Demands(k=2, quasi=("q", "r"), kept=("serial",))
    assert faults(plain, source, release)
    local = dataclasses.replace(plain, local=True)
    assert faults(local, source, release) == []
    swapped = Grid(source.names, tuple((i, "ab"[i % 2], "*") for i in range(4)))
    assert faults(local, source, swapped)


def test_the_judge_counts_marked_records_as_suppressed() -> None:
    marked = dataclasses.replace(DEMANDS, marked=True, suppression=2)
    blank = Grid(GOOD.names, tuple((i, 20 if i < 2 else None, "x") for i in range(4)))
    assert faults(marked, SOURCE, blank) == []
    assert faults(dataclasses.replace(marked, suppression=1), SOURCE, blank)
    assert faults(DEMANDS, SOURCE, Grid(GOOD.names, tuple(row for row in blank.rows if row[1])))


def some_kept(run: Callable[..., Any]) -> Callable[..., Any]:
    """Releases all quasi-identifiers but the first as they are."""

    def lie(definition: Any, **options: Any) -> Any:
        attributes = dict(definition["attributes"])
        quasi = [n for n, a in attributes.items() if isinstance(a, dict) and n.startswith("q")]
        attributes.update(dict.fromkeys(quasi[1:], "keep"))
        return run({**definition, "attributes": attributes}, **options)

    return lie


def other_loss(run: Callable[..., Any]) -> Callable[..., Any]:
    def lie(definition: Any) -> Any:
        result = run(definition)
        return dataclasses.replace(result, loss=result.loss + 0.01)

    return lie


def does_nothing(run: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments, **options: None


def crashes(run: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments, **options: 1 / 0


@pytest.mark.parametrize(
    ("kind", "lie"),
    [
        ("safety", some_kept),
        ("optimality", other_loss),
        ("overwriting", does_nothing),
        ("definitions", crashes),
    ],
)
def test_a_shoal_that_breaks_its_promise_is_found_out(
    kind: str, lie: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shoal, "run", lie(shoal.run))
    assert tally(kind, Services(), 4).failures


def test_a_verifier_that_accepts_everything_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shoal, "verify", lambda *_, **__: SimpleNamespace(safe=True))
    assert tally("tampering", Services(), 5).failures


def test_an_output_that_a_kill_cut_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def cut(made: Replacing, name: str, **options: Any) -> CompletedProcess[str]:
        if "kill_after" not in options:
            return run(made, name, **options)
        for path in made.folder.glob("release.*"):
            path.write_bytes(path.read_bytes()[:100])
        return CompletedProcess([], kills.KILLED, "", "")

    run = Replacing.command
    monkeypatch.setattr(kills, "RECORDS", 300)
    monkeypatch.setattr(Replacing, "command", cut)
    assert tally("kills", Services(), 1).failures


def test_a_value_of_the_data_in_an_error_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def tells(*arguments: Any, **options: Any) -> Any:
        raise shoal.BadData(f"the value {CANARY}-1 is odd", code="odd", hint="write another")

    monkeypatch.setattr(shoal, "run", tells)
    assert tally("hierarchies", Services(), 2).failures


def test_the_report_adds_up_runs_and_says_what_each_kind_does(tmp_path: Path) -> None:
    page = tmp_path / "reliability.md"
    found = Tally("kills", 1, trials=2, seen=Counter({"kills": 20}))
    for seed in (1, 3):
        report.keep(page, [found], seed, "PostgreSQL")
    report.write(page, KINDS)
    shown = page.read_text(encoding="utf-8")
    assert "| [kills](#kills) | 4 | 0 | 0 | 40 kills |" in shown
    assert shown.count("| PostgreSQL |") == 2


def test_the_page_on_reliability_is_what_the_report_writes(tmp_path: Path) -> None:
    kept = Path(__file__).parents[2] / "docs" / "reliability.md"
    page = tmp_path / kept.name
    page.with_suffix(".jsonl").write_bytes(kept.with_suffix(".jsonl").read_bytes())
    report.write(page, KINDS)
    assert page.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")


def test_the_command_names_the_first_failing_seed_and_how_to_repeat_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shoal, "run", crashes(shoal.run))
    monkeypatch.setattr("servers.postgres_programs", lambda: None)
    assert main(["--only", "optimality", "--seed", "7", "--trials", "2"]) == 1
    shown = capsys.readouterr().out
    assert "optimality         2         2         0" in shown
    assert "--only optimality --seed 7 --trials 1" in shown


def test_the_table_has_a_line_for_each_kind() -> None:
    good, bad = Tally("safety", 3, trials=3), Tally("kills", 5)
    bad.failures.append((4, "first line\nthe output is gone\n"))
    lines = table([good, bad]).splitlines()
    assert lines[1].split()[:4] == ["safety", "3", "0", "0"]
    assert lines[2].endswith("seed 4: the output is gone")
