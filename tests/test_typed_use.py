"""A script of a user that calls every public function has the types that it says, for mypy too."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import shoal

SCRIPT = """
from __future__ import annotations

import logging
from pathlib import Path

import polars as pl
from pyspark.sql import DataFrame as SparkFrame
from pyspark.sql import SparkSession

import shoal
from shoal.events import Event

given = pl.DataFrame({"zip": ["1", "2"], "age": [3, 4]})


def released(frame: SparkFrame, session: SparkSession) -> SparkFrame:
    measured = shoal.check(frame, ["zip"], spark=session)
    logging.info("k = %d", measured.k)
    return shoal.anonymize(frame, {"zip": {"mask": 5}, "age": None}, k=measured.k + 1)


def see(event: Event) -> None:
    logging.info("%s", event)


def say(line: str) -> None:
    logging.info(line)


safe: pl.DataFrame = shoal.anonymize(given, "zip", others="drop")
lazy: pl.LazyFrame = shoal.anonymize(given.lazy(), ["zip", "age"], k=2, suppression="5%")
both: tuple[pl.DataFrame, shoal.Result] = shoal.anonymize(
    given,
    {"zip": {"mask": 5}},
    sensitive={"age": 2},
    keep=["name"],
    identifiers="id",
    time_limit="5min",
    missing={"values": ["?"]},
    search={"strategy": "ola"},
    with_result=True,
    observe=see,
)
result: shoal.Result = shoal.run("patients.yaml", observe=shoal.show_progress)
failures: list[str] = [each.name for each in shoal.verify("out.csv", Path("d.yaml")).failures]
measured = shoal.risk({"url": "sqlite:///c.db", "table": "t"}, "zip")
highest: float | None = measured.before.prosecutor.highest
useful: shoal.UtilityReport = shoal.utility({"source": "a.csv", "k": 5}, target="age")
best: shoal.Solutions = shoal.solutions("patients.yaml", 3, watch=say)
nodes: shoal.LatticeNodes = shoal.lattice("patients.yaml", near_optimum=True)
costs: shoal.Frontier = shoal.frontier("patients.yaml", k=[5, 10], suppression=[0.0, 0.05])
why: shoal.Explanation = shoal.explain(result)
other: shoal.WhatIf = shoal.what_if("patients.yaml", {"zip": 2})
again: pl.DataFrame = shoal.apply("recoding.json", given).frame
written: None = shoal.apply("recoding.json", "new.csv", "out.csv").frame
trials: shoal.Comparison = shoal.compare("patients.yaml", ["box"], time_limit=5)
mart: shoal.mart.MartResult = shoal.mart.request("catalog.yaml", {"project": ["age"]})
with shoal.Client("https://shoal.example", "token") as client:
    job = client.run("patients.yaml", ["patients.csv"])
    saved: Path = job.save_release("release.csv")
    client.risk(job, threshold=0.1, population=1000).wait(print)
"""
WRONG = {
    'shoal.anonymize("people.csv", ["zip"])': "call-overload",
    'shoal.anonymize(given, ["zip"], kk=3)': "call-overload",
    'shoal.anonymize(given, ["zip"], others="kept")': "call-overload",
    'text: str = shoal.anonymize(given, ["zip"])': "assignment",
    "shoal.run(given)": "arg-type",
    'shoal.check(given, ["zip"], match="most")': "arg-type",
}
"""Calls that mypy refuses, and why."""
CACHE = Path(__file__).parents[1] / ".mypy_cache" / "typed_use"
"""What mypy knows of files that have not changed: to read them again takes it ten seconds."""


def test_the_script_uses_every_public_function() -> None:
    functions = [name for name in shoal.__all__ if inspect.isfunction(getattr(shoal, name))]
    assert [name for name in functions if f"shoal.{name}" not in SCRIPT] == []


@pytest.mark.slow
def test_the_script_of_a_user_has_strict_types(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    lines = ["import polars as pl", "import shoal", 'given = pl.DataFrame({"zip": ["1"]})', *WRONG]
    (tmp_path / "wrong.py").write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", CACHE, "script.py", "wrong.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    found = re.findall(r"^(.*): error: .*\[(.*)\]$", done.stdout, re.MULTILINE)
    expected = [(f"wrong.py:{line}", code) for line, code in enumerate(WRONG.values(), 4)]
    assert list(dict(found).items()) == expected, done.stdout
