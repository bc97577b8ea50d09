"""How do anjana and pyCANON compare with Shoal, on the same tables in one run?

anjana anonymizes a table and pyCANON measures one; both come from PyPI. A generated table, and
Adult where the folder SHOAL_DATA has it, are made 5-anonymous with at most 5 % of the records
suppressed: by anjana, by Shoal with one level for each column, and by Shoal with levels by class.
All get the same frames and the same hierarchies. Then pyCANON and Shoal measure each release.

The loss of anjana's transformation is Iyengar's, computed by Shoal at the levels that anjana chose.
Times are of the calls alone, in seconds of the processor and on the clock. Those of Shoal
include what anjana does not do: the proof, and the verification of the release.

anjana pins its dependencies exactly, so it needs an environment of its own:

    python -m venv .venv-anjana && .venv-anjana/bin/pip install anjana==1.2.3
    python -m benchmarks.others --output benchmarks/results/others.txt
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

import shoal

DATA = Path(os.environ.get("SHOAL_DATA", "../shared/data")) / "adult"
PYTHON = Path(".venv-anjana") / "bin" / "python"
K = 5
SUPPRESSION = 5
"""Percent of the records."""
SEED = 20261118

ANJANA = """
import json, sys, time
from importlib.metadata import version
import pandas as pd
from anjana.anonymity import k_anonymity
from anjana.anonymity.utils import utils

asked = json.load(sys.stdin)
names = list(asked["hierarchies"])
read = lambda path, **keys: pd.read_csv(path, sep=";", dtype=str, keep_default_na=False, **keys)
data = read(asked["data"])
levels = {
    name: {level: column.to_numpy() for level, column in read(path, header=None).items()}
    for name, path in asked["hierarchies"].items()
}
wall, cpu = time.perf_counter(), time.process_time()
released = k_anonymity(data, [], names, asked["k"], asked["suppression"], levels)
spent = time.process_time() - cpu, time.perf_counter() - wall
released.to_csv(asked["release"], sep=";", index=False, columns=list(data.columns))
json.dump({
    "version": version("anjana"),
    "spent": spent,
    "levels": utils.get_transformation(released, names, levels),
    "suppressed": len(data) - len(released),
}, sys.stdout)
"""

PYCANON = """
import json, sys, time
from importlib.metadata import version
import pandas as pd
from pycanon import anonymity

path, names = json.load(sys.stdin)
data = pd.read_csv(path, sep=";", dtype=str, keep_default_na=False)
wall, cpu = time.perf_counter(), time.process_time()
k = int(anonymity.k_anonymity(data, names))
spent = time.process_time() - cpu, time.perf_counter() - wall
json.dump({"version": version("pycanon"), "k": k, "spent": spent}, sys.stdout)
"""


@dataclass(frozen=True)
class Case:
    """A table and the hierarchy file of each of its quasi-identifiers."""

    name: str
    data: Path
    hierarchies: Mapping[str, Path]

    @property
    def columns(self) -> list[str]:
        """The quasi-identifiers, in the order of the table."""
        return list(self.hierarchies)


def adult() -> Case:
    """Adult with all nine columns as quasi-identifiers."""
    header = (DATA / "data.csv").open(encoding="utf-8").readline().strip()
    files = {name: DATA / "hierarchies" / f"{name}.csv" for name in header.split(";")}
    return Case("Adult", DATA / "data.csv", files)


def generated(folder: Path, records: int = 30_000) -> Case:
    """A table from a seed: the skew of its columns was chosen, to look like that of people."""
    random = np.random.default_rng(SEED)
    ages = np.clip(random.normal(48, 19, records), 0, 99).astype(int)
    places = random.zipf(1.3, records) % 400
    columns = {
        "age": [f"{age:02d}" for age in ages],
        "sex": random.choice(["female", "male"], records),
        "zip": [f"{10000 + 37 * int(place):05d}" for place in places],
        "children": [str(each) for each in np.minimum(random.poisson(1.2, records), 6)],
        "diagnosis": random.choice(list("ABCDEFGHIJ"), records),
    }
    table = pd.DataFrame(columns)
    table.to_csv(folder / "generated.csv", sep=";", index=False)
    kinds: dict[str, Callable[[str], list[str]]] = {
        "age": lambda v: [v, *(_interval(int(v), width) for width in (5, 10, 20, 40)), "*"],
        "sex": lambda v: [v, "*"],
        "zip": lambda v: [v, *(v[: 5 - n] + "*" * n for n in (1, 2, 3, 4)), "*"],
        "children": lambda v: [v, "0" if v == "0" else "1 or more", "*"],
    }
    files = {}
    for name, row in kinds.items():
        files[name] = folder / f"{name}.csv"
        rows = [row(value) for value in sorted(set(table[name]))]
        pd.DataFrame(rows).to_csv(files[name], sep=";", header=False, index=False)
    return Case("generated", folder / "generated.csv", files)


def _interval(number: int, width: int) -> str:
    low = number // width * width
    return f"[{low},{low + width})"


def ask(python: Path, code: str, asked: Any) -> dict[str, Any]:
    """Run code in the other environment: JSON in, JSON out."""
    done = subprocess.run(
        [python, "-c", code], input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def by_anjana(case: Case, python: Path, release: Path) -> dict[str, Any]:
    """What anjana chose, and what Shoal says that its levels lose."""
    asked = {
        "data": str(case.data),
        "release": str(release),
        "hierarchies": {name: str(path) for name, path in case.hierarchies.items()},
        "k": K,
        "suppression": SUPPRESSION,
    }
    found = ask(python, ANJANA, asked)
    levels = dict(zip(case.columns, found["levels"], strict=True))
    with tempfile.TemporaryDirectory() as folder:
        definition = definition_of(case, Path(folder) / "same.csv")
        judged = shoal.run(definition, node=levels)
    found |= {"loss": judged.loss, "counted": judged.suppressed, "levels": levels}
    return found


def definition_of(case: Case, output: Path) -> dict[str, Any]:
    """The same demand as a definition."""
    roles = {
        name: {"role": "quasi-identifier", "hierarchy": str(path.resolve())}
        for name, path in case.hierarchies.items()
    }
    return {
        "source": {"path": str(case.data.resolve()), "delimiter": ";"},
        "output": str(output),
        "k": K,
        "suppression": f"{SUPPRESSION}%",
        "attributes": roles,
        "others": "keep",
    }


def by_shoal(case: Case, recoding: Any, release: Path) -> dict[str, Any]:
    """A release of the frame, by Shoal."""
    frame = pd.read_csv(case.data, sep=";", dtype=str, keep_default_na=False)
    files = {name: str(path.resolve()) for name, path in case.hierarchies.items()}
    wall, cpu = time.perf_counter(), time.process_time()
    released, result = shoal.anonymize(
        frame,
        files,
        k=K,
        suppression=SUPPRESSION / 100,
        others="keep",
        recoding=recoding,
        with_result=True,
    )
    spent = time.process_time() - cpu, time.perf_counter() - wall
    released.to_csv(release, sep=";", index=False)
    return {"spent": spent, "result": result, "loss": result.loss}


def compare(case: Case, python: Path, folder: Path, out: TextIO) -> None:
    """Three releases of a table, each measured twice."""
    records = len(pd.read_csv(case.data, sep=";", dtype=str))
    out.write(f"\n{case.name}: {records:,} records, {len(case.columns)} quasi-identifiers\n")
    out.write(f"{'release by':<18}{'CPU s':>8}{'wall s':>8}{'loss':>9}{'left out':>10}  levels\n")
    paths = {name: folder / f"{case.name}-{name}.csv" for name in ("anjana", "full", "local")}
    anjana = by_anjana(case, python, paths["anjana"])
    if anjana["counted"] != anjana["suppressed"]:
        out.write(f"NOT EQUAL: Shoal suppresses {anjana['counted']} records at these levels\n")
    levels = ",".join(str(level) for level in anjana["levels"].values())
    line(out, f"anjana {anjana['version']}", anjana, anjana["suppressed"], levels)
    for recoding, name in (("full-domain", "full"), ("local", "local")):
        found = by_shoal(case, recoding, paths[name])
        result = found["result"]
        chosen = "by class" if name == "local" else ",".join(str(v) for v in result.levels.values())
        ending = "proved the least" if result.status == "optimal" else f"bound {result.bound:.4f}"
        line(out, f"Shoal {recoding}", found, result.suppressed, f"{chosen} ({ending})")
    measured(case, paths, python, out)


def line(out: TextIO, name: str, found: Mapping[str, Any], suppressed: int, levels: str) -> None:
    """One release."""
    cpu, wall = found["spent"]
    out.write(f"{name:<18}{cpu:8.2f}{wall:8.2f}{found['loss']:9.4f}{suppressed:10,}  {levels}\n")


def measured(case: Case, paths: Mapping[str, Path], python: Path, out: TextIO) -> None:
    """The k of each release, by pyCANON and by `shoal.check`."""
    for name, path in paths.items():
        other = ask(python, PYCANON, [str(path), case.columns])
        theirs = f"{other['k']} by pyCANON {other['version']} ({other['spent'][0]:.2f} CPU s)"
        frame = pd.read_csv(path, sep=";", dtype=str, keep_default_na=False)
        cpu = time.process_time()
        ours = shoal.check(frame, case.columns, warnings=False).k
        spent = time.process_time() - cpu
        agreed = "" if ours == other["k"] else "  NOT EQUAL"
        out.write(f"k of {name}: {theirs}, {ours} by shoal.check ({spent:.2f} CPU s){agreed}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare on every table that is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, default=PYTHON, help="an interpreter with anjana")
    parser.add_argument("--output", type=Path, help="save what is printed")
    options = parser.parse_args(arguments)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        out = stack.enter_context(options.output.open("w")) if options.output else sys.stdout
        out.write(
            f"{datetime.date.today():%d %B %Y}, Shoal {version('shoal')}, {platform.machine()}, "
            f"{os.cpu_count()} cores, Python {platform.python_version()}, "
            f"load before: {os.getloadavg()[0]:.2f}\n"
            f"k = {K}, at most {SUPPRESSION} % suppressed, Iyengar's loss\n"
        )
        shoal.check(pd.DataFrame({"a": ["1"]}), ["a"])  # imports and the library are loaded
        compare(generated(folder), options.python, folder, out)
        if DATA.exists():
            compare(adult(), options.python, folder, out)


if __name__ == "__main__":
    main()
