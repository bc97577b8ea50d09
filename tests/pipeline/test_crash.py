"""Whenever a run is killed, the old output is there, or the new one, whole."""

from __future__ import annotations

import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from commands import leftovers, shoal
from shoal.demo.files import write_demo


@pytest.mark.slow
def test_a_killed_run_leaves_the_old_output_or_the_new_one_whole(tmp_path: Path) -> None:
    write_demo(tmp_path, 8_000)
    release, report = tmp_path / "release.csv", tmp_path / "report.html"
    command = ("run", "patients.yaml", "--k", "2", "--suppression", "10%")
    shoal("--version", folder=tmp_path)
    began = time.monotonic()
    assert shoal(*command, folder=tmp_path).returncode == 0
    usual = time.monotonic() - began
    new = release.read_bytes()
    chance = random.Random(5)
    kills = 0
    for moment in range(10):
        release.write_bytes(b"old")
        report.unlink(missing_ok=True)
        seconds = (0.1 + 0.1 * moment + chance.uniform(0, 0.1)) * usual
        kills += shoal(*command, folder=tmp_path, kill_after=seconds).returncode < 0
        found = release.read_bytes()
        assert found in (b"old", new)
        if report.exists():
            assert found == new
    assert kills > 0

    assert shoal(*command, folder=tmp_path).returncode == 0
    assert release.read_bytes() == new
    assert leftovers(tmp_path) == []


@pytest.mark.slow
def test_a_run_deletes_orphans_and_leaves_files_of_running_processes(tmp_path: Path) -> None:
    from shoal.engines.local_files import FOLDER, HIDDEN, owned

    write_demo(tmp_path, 100)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    dead = subprocess.Popen(["true"])
    dead.wait()
    ours = owned("")
    of_dead = ours.replace(str(os.getpid()), str(dead.pid), 1)
    (tmp_path / f"{HIDDEN}{of_dead}x.csv").write_text("records")
    (temporary / f"{FOLDER}{of_dead}x").mkdir()
    (temporary / f"{FOLDER}{of_dead}x" / "tidy-0.csv").write_text("records")
    living = tmp_path / f"{HIDDEN}{ours}x.csv"
    living.write_text("of the process that runs this test")
    assert shoal("run", "patients.yaml", folder=tmp_path).returncode == 0
    assert leftovers(tmp_path) == [living.name]


@pytest.mark.slow
def test_a_run_into_a_database_sweeps_what_a_killed_one_spilled(tmp_path: Path) -> None:
    from shoal.engines.local_files import FOLDER, owned

    write_demo(tmp_path, 100)
    definition = tmp_path / "patients.yaml"
    table = "output: {url: 'sqlite:///release.db', table: release}\n"
    lines = definition.read_text().splitlines(keepends=True)
    definition.write_text("".join(table if each.startswith("output:") else each for each in lines))
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = tmp_path / "tmp" / f"{FOLDER}{owned('').replace(str(os.getpid()), str(dead.pid), 1)}x"
    left.mkdir(parents=True)
    (left / "tidy-0.csv").write_text("records")
    done = shoal("run", "patients.yaml", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert leftovers(tmp_path) == []
