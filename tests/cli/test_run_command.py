"""`shoal run` as a user meets it: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from commands import TIME_LIMIT, leftovers, shoal, start
from shoal.cli.main import main
from shoal.demo.files import write_demo
from shoal.values import Finding, Verdict

PATIENTS = """source: patients.csv
output: release.csv
k: 2
attributes:
  name: identifier
  age: {role: quasi-identifier, hierarchy: {intervals: [10, 100]}}
  zip: quasi-identifier
  "[b]ward": keep
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"p{i},{30 + i % 20},101{i % 3}5,w{i % 2}" for i in range(60)]
    header = "name,age,zip,[b]ward"
    (tmp_path / "patients.csv").write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    (tmp_path / "patients.yaml").write_text(PATIENTS, encoding="utf-8")
    return tmp_path


def in_process(arguments: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """The exit code of the command, run in this process; its signals stay those of the tests."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["shoal", *arguments])
    monkeypatch.setattr("shoal.cli.main.interrupt_on_signals", lambda: None)
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.mark.slow
def test_the_summary_answers_safe_lost_done_where_in_this_order(folder: Path) -> None:
    ended = shoal("run", "patients.yaml", folder=folder)
    assert ended.returncode == 0
    places = [
        ended.stdout.index(part)
        for part in ("Safe: ", "Loss ", "records suppressed", "attribute ", "Release: release.csv")
    ]
    assert places == sorted(places)
    assert "(proposed hierarchy)" in ended.stdout
    assert "Reading patients.csv" in ended.stderr
    assert "gap 0.0%" in ended.stderr


@pytest.mark.slow
def test_nothing_but_text_is_written_where_there_is_no_terminal(folder: Path) -> None:
    for arguments in (
        ("run", "patients.yaml"),
        ("run", "--help"),
        ("run", "patients.yaml", "--k", "1"),
    ):
        ended = shoal(*arguments, folder=folder)
        assert "\x1b" not in ended.stdout + ended.stderr
        assert "\r" not in ended.stdout + ended.stderr


@pytest.mark.slow
def test_options_override_the_keys_of_the_definition(folder: Path) -> None:
    options = ("--k", "7", "--suppression", "10%", "--output", "other.csv", "--time-limit", "1 min")
    ended = shoal(
        "run", "patients.yaml", *options, "--strategy", "exhaustive", "--json", "-", folder=folder
    )
    result = json.loads(ended.stdout)
    assert result["smallest_class"] >= 7
    assert result["suppression_limit"] == 6
    assert result["output"] == "other.csv"
    assert (folder / "other.csv").exists()
    assert not (folder / "release.csv").exists()


@pytest.mark.slow
def test_json_on_standard_output_is_all_there_is(folder: Path) -> None:
    ended = shoal("run", "patients.yaml", "--json", "-", folder=folder)
    assert ended.stderr == ""
    assert json.loads(ended.stdout)["verified"] is True


@pytest.mark.slow
def test_quiet_says_nothing_and_writes_everything(folder: Path) -> None:
    ended = shoal(
        "run", "patients.yaml", "-q", "--json", "r.json", "--report", "r.html", folder=folder
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert json.loads((folder / "r.json").read_text(encoding="utf-8"))["status"] == "optimal"
    assert "Release of patients.csv" in (folder / "r.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--k", "1"], "k: is 1, but must be at least 2"),
        (["--k", "many"], "Invalid value for '--k'"),
        (["--suppression", "200%"], "suppression: 200 % is over 100 %"),
        (["--strategy", "boxx"], "search.strategy: 'boxx'"),
        (["--time-limit", "soon"], "'soon' is not a duration"),
        (["--output", "patients.csv"], "'patients.csv' is a file of the source"),
        (["--output", "nowhere/x.csv"], "[no-output-folder]"),
        (["--output", "release.yaml"], "[unknown-output-format]"),
        (["--json", "nowhere/x.json"], "cannot write nowhere/x.json"),
        (["--json", "patients.csv"], "would overwrite another file"),
        (["--json", "release.csv"], "would overwrite another file"),
        (["--report", "patients.yaml"], "would overwrite another file"),
        (["--report", "nowhere/x.html"], "cannot write nowhere/x.html"),
        (["--bogus"], "No such option: --bogus"),
    ],
)
def test_a_wrong_option_ends_with_2_before_anything_is_read_or_written(
    folder: Path,
    options: list[str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    assert in_process(["run", "patients.yaml", *options], folder, monkeypatch) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said
    assert "Reading" not in said
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.slow
def test_a_demand_that_cannot_be_met_ends_with_3_and_keeps_the_old_output(folder: Path) -> None:
    (folder / "release.csv").write_text("old", encoding="utf-8")
    ended = shoal("run", "patients.yaml", "--k", "61", folder=folder)
    assert ended.returncode == 3
    assert "error: no transformation meets the demand" in ended.stderr
    assert "nothing was released" in ended.stderr
    assert "hint: " in ended.stderr
    assert (folder / "release.csv").read_text(encoding="utf-8") == "old"


@pytest.mark.slow
def test_a_time_limit_leaves_a_safe_release_with_its_true_gap(folder: Path) -> None:
    short = ("--strategy", "exhaustive", "--time-limit", "0.000001s")
    ended = shoal("run", "patients.yaml", *short, "--json", "r.json", folder=folder)
    result = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert ended.returncode == 0
    assert result["status"] == "feasible"
    assert result["gap"] == pytest.approx((result["loss"] - result["bound"]) / result["loss"])
    assert result["gap"] > 0
    assert "not proved the least possible" in ended.stdout
    best = json.loads(shoal("run", "patients.yaml", "--json", "-", folder=folder).stdout)
    assert result["bound"] <= best["loss"] < result["loss"]


@pytest.mark.slow
def test_debug_shows_where_an_error_came_from(folder: Path) -> None:
    ended = shoal("--debug", "run", "patients.yaml", "--k", "1", folder=folder)
    assert "Traceback" in ended.stderr
    assert ended.returncode != 0


@pytest.mark.slow
def test_names_in_messages_cannot_command_the_terminal(folder: Path) -> None:
    ended = shoal("run", "\x1b[31m.yaml", folder=folder)
    assert ended.returncode == 2
    assert "\x1b" not in ended.stderr
    assert "\\x1b[31m.yaml" in ended.stderr


@pytest.mark.slow
def test_version_and_help_are_there(folder: Path) -> None:
    assert shoal("--version", folder=folder).stdout.startswith("shoal ")
    text = shoal("run", "--help", folder=folder).stdout
    assert "shoal run patients.yaml --k 10" in text
    assert "130  interrupted" in text
    assert "YAML, JSON or XML" in text


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A registry whose search takes some seconds: only the top of the lattice is safe."""
    folder = tmp_path_factory.mktemp("long")
    write_demo(folder, 100_000)
    return folder


HARD = (
    *("run", "patients.yaml", "--k", "25000", "--suppression", "0"),
    *("--strategy", "exhaustive", "--json", "result.json"),
)


def interrupt(folder: Path, *options: str, number: int) -> tuple[int, str]:
    """Run, and send the signal when the search has begun; exit code and what was said."""
    for name in ("release.csv", "result.json", "report.html"):
        (folder / name).unlink(missing_ok=True)
    process = start(*HARD, *options, folder=folder)
    assert process.stderr is not None
    said = process.stderr.readline()
    timer = threading.Timer(0.5, process.send_signal, [number])
    timer.start()
    _, rest = process.communicate(timeout=TIME_LIMIT)
    timer.cancel()
    return process.returncode, said + rest


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_with_130_and_leaves_nothing(long_run: Path, number: int) -> None:
    code, said = interrupt(long_run, number=number)
    assert code == 130
    assert "interrupted; nothing was released" in said
    assert "--keep-best" in said
    assert "Traceback" not in said
    assert not (long_run / "release.csv").exists()
    assert not (long_run / "result.json").exists()
    assert leftovers(long_run) == []


@pytest.mark.slow
def test_keep_best_releases_what_was_found_with_its_true_gap(long_run: Path) -> None:
    code, said = interrupt(long_run, "--keep-best", number=signal.SIGINT)
    assert code == 0
    assert "stopped: interrupted" in said
    result = json.loads((long_run / "result.json").read_text(encoding="utf-8"))
    assert (result["status"], result["verified"]) == ("feasible", True)
    assert result["smallest_class"] >= 25_000
    assert 0 < result["gap"] < 1
    assert result["gap"] == pytest.approx((result["loss"] - result["bound"]) / result["loss"])
    assert (long_run / "release.csv").exists()
    assert leftovers(long_run) == []


def test_a_signal_while_the_command_is_still_loading_ends_it_with_130() -> None:
    code = """
import os, signal, sys
from shoal.cli.main import main

class Interrupting:
    def find_spec(self, name, path, target=None):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting())
main()
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 130
    assert ended.stderr == "error: interrupted; nothing was released [interrupted]\n"


def test_what_the_verifier_refuses_ends_with_4_and_is_not_released(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "release.csv").write_text("old", encoding="utf-8")
    before = sorted(path.name for path in folder.iterdir())
    unsafe = Verdict((Finding("k-anonymity", False, "a class of 1"),), 60, 30, 1)
    monkeypatch.setattr("shoal.steps.releasing.verify", lambda *_, **__: unsafe)
    assert in_process(["run", "patients.yaml"], folder, monkeypatch) == 4
    assert "k-anonymity: a class of 1" in capsys.readouterr().err
    assert (folder / "release.csv").read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in folder.iterdir()) == before
