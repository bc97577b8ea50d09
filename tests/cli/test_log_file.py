"""What is logged: phases, counts, decisions, codes of errors; never a value of the data."""

from __future__ import annotations

import logging
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import pytest
from typer.testing import CliRunner

import shoal
from shoal.calling.logs import LOGGER
from shoal.cli.app import LOGGED, app, command
from shoal.errors import ShoalError

CANARIES = ("CANARYZIP", "CANARYILL", "CANARYNODE", "CANARYNEW")
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \d+ (INFO|WARNING|ERROR) shoal\.[\w.]+: \S.*")
DEFINITION = """
source: people.csv
output: release.csv
k: 2
suppression: 50%
attributes:
  zip:
    role: quasi-identifier
    hierarchy: {tree: {CANARYNODE: [CANARYZIP, b], other: [c, d]}}
  illness: {role: sensitive, diversity: {distinct: 2}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    rows = [
        "zip,illness",
        *(f"{z},{i}" for z in ("CANARYZIP", "b", "c") for i in ("x", "CANARYILL")),
    ]
    (tmp_path / "people.csv").write_text("\n".join(rows))
    (tmp_path / "new.csv").write_text("zip,illness\nCANARYNEW,x\nc,y\n")
    (tmp_path / "people.yaml").write_text(DEFINITION)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert [type(each) for each in LOGGER.handlers] == [logging.NullHandler]
    assert LOGGER.level == logging.NOTSET


def run(*arguments: str) -> int:
    done = CliRunner().invoke(app, [*arguments, "--log-file", "run.log"])
    return done.exception.exit_code if isinstance(done.exception, ShoalError) else done.exit_code


def test_a_log_grows_line_by_line_and_has_no_value_of_the_data(folder: Path) -> None:
    codes = [
        run("run", "people.yaml", "--transformation", "t.json"),
        run("run", "people.yaml", "--k", "7", "--suppression", "0"),
        run("run", "people.yaml", "--k", "CANARYILL"),
        run("apply", "t.json", "new.csv", "-o", "again.csv"),
        run("check", "people.csv", "--qi", "zip", "--sensitive", "illness", "--k", "5"),
        run("check", "people.csv", "--qi", "CANARYZIP"),
        run("solutions", "people.yaml"),
    ]
    assert codes == [0, 3, 2, 2, 4, 2, 0]
    text = (folder / "run.log").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if not LINE.fullmatch(line)] == []
    assert not [canary for canary in CANARIES if canary in text]
    for said in (
        "shoal.command: shoal run begins (version ",
        "shoal.run: search 3 tuples, ",
        "shoal.run: chosen: optimal, loss ",
        "shoal.run: released and verified: ",
        "shoal.run: failed after ",
        "shoal.command: shoal run fails: Infeasible [infeasible]",
        "shoal.command: shoal apply fails: BadData [unknown-values]",
        "shoal.command: shoal check ends with exit code 4",
        "shoal.command: shoal check fails: BadData [unknown-column]",
        "shoal.solutions: ends after ",
    ):
        assert said in text, said
    assert stat.S_IMODE((folder / "run.log").stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("log", "code"),
    [("people.csv", "not-a-log"), ("people.yaml", "not-a-log"), ("none/x.log", "bad-log-file")],
)
def test_nothing_but_a_log_is_appended_to(folder: Path, log: str, code: str) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for arguments in (["check", "people.csv", "--qi", "zip"], ["run", "people.yaml"]):
        done = CliRunner().invoke(app, [*arguments, "--log-file", log])
        assert isinstance(done.exception, ShoalError)
        assert done.exception.code == code
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_pipe_or_a_device_is_no_log_and_keeps_its_permissions(folder: Path) -> None:
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    pipe.chmod(0o644)
    done = CliRunner().invoke(app, ["run", "people.yaml", "--log-file", "pipe"])
    assert getattr(done.exception, "code", "") == "not-a-log"
    assert stat.S_IMODE(pipe.stat().st_mode) == 0o644
    assert not (folder / "release.csv").exists()


def test_the_output_of_a_command_is_not_its_log_too(folder: Path) -> None:
    arguments = ["run", "people.yaml", "-o", "out.csv", "--log-file", "./out.csv"]
    done = CliRunner().invoke(app, arguments)
    assert getattr(done.exception, "code", "") == "not-a-log"
    assert not (folder / "out.csv").exists()


def test_every_command_that_runs_something_has_the_option() -> None:
    commands = [command(name) for name in LOGGED]
    commands += [command("mart").commands[name] for name in ("request", "check")]
    for each in commands:
        assert "--log-file" in {option for param in each.params for option in param.opts}, each.name


def test_a_library_logs_for_those_who_ask_and_prints_nothing(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    frame = pd.DataFrame({"zip": ["CANARYZIP"] * 3 + ["b"] * 3})
    hierarchy: dict[str, Any] = {"zip": {"tree": {"CANARYNODE": ["CANARYZIP", "b"]}}}
    with caplog.at_level(logging.DEBUG, logger="shoal"):
        shoal.anonymize(frame, hierarchy, k=2)
        with pytest.raises(shoal.Infeasible):
            shoal.anonymize(frame, hierarchy, k=7)
    said = [f"{each.name} {each.levelname} {each.getMessage()}" for each in caplog.records]
    assert said[0] == "shoal.anonymize INFO begins"
    assert "shoal.anonymize INFO verify" in said
    assert re.fullmatch(
        r"shoal.anonymize ERROR failed after .* s: Infeasible \[infeasible\]", said[-1]
    )
    assert not [line for line in said if any(canary in line for canary in CANARIES)]
    assert capfd.readouterr() == ("", "")
