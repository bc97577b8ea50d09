"""`shoal.check` against pyCANON, which measures the same things with code of its own.

pyCANON pins an older pandas, so it lives in an environment of its own: the one whose Python the
variable SHOAL_PYCANON names, else `.venv-pycanon`, which `scripts/test` makes.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.demo.registry import registry

ROOT = Path(__file__).parent.parent.parent
PYTHON = Path(os.environ.get("SHOAL_PYCANON", ROOT / ".venv-pycanon" / "bin" / "python"))

MEASURE = """
import json, sys
import pandas
from pycanon import anonymity

measured = []
for path, quasi_identifiers, sensitive, numeric in json.load(sys.stdin):
    data = pandas.read_csv(path, dtype=str, keep_default_na=False)
    if numeric:
        data[sensitive] = data[sensitive].astype(int)
    asked = (data, quasi_identifiers, [sensitive])
    measured.append({
        "k": int(anonymity.k_anonymity(data, quasi_identifiers)),
        "l": int(anonymity.l_diversity(*asked)),
        "entropy": int(anonymity.entropy_l_diversity(*asked)),
        "t": float(anonymity.t_closeness(*asked)),
    })
json.dump(measured, sys.stdout)
"""

BIRTH: dict[str, Any] = {"date": ["year", "decade"]}
ZIP: dict[str, Any] = {"mask": 5}
CHILDREN: dict[str, Any] = {"cuts": [[1, 2, 4], [2]]}


@dataclass(frozen=True)
class Case:
    """A release: its k, its quasi-identifiers and what is demanded of its sensitive column."""

    k: int
    quasi_identifiers: dict[str, Any]
    sensitive: str
    demand: dict[str, Any]

    @property
    def numeric(self) -> bool:
        return self.sensitive == "length_of_stay"


CASES = (
    Case(2, {"birth": BIRTH, "sex": "suppress"}, "diagnosis", {"diversity": {"distinct": 2}}),
    Case(3, {"birth": BIRTH, "zip": ZIP}, "ward", {"diversity": {"distinct": 2}}),
    Case(5, {"zip": ZIP, "sex": "suppress"}, "length_of_stay", {"diversity": {"distinct": 3}}),
    Case(10, {"birth": BIRTH, "zip": ZIP}, "diagnosis", {"diversity": {"entropy": 3}}),
    Case(4, {"children": CHILDREN, "zip": ZIP}, "ward", {"diversity": {"entropy": 2}}),
    Case(20, {"birth": {"date": ["decade"]}}, "length_of_stay", {"closeness": 0.9}),
    Case(5, {"children": CHILDREN, "sex": "suppress"}, "diagnosis", {"alpha": 0.9}),
    Case(
        6,
        {"birth": BIRTH, "children": CHILDREN, "sex": "suppress"},
        "length_of_stay",
        {"diversity": {"recursive": {"c": 4, "l": 2}}},
    ),
    Case(7, {"zip": {"mask": [3, 5]}}, "diagnosis", {"closeness": {"t": 0.6}}),
    Case(
        2,
        {"birth": {"date": ["month", "year", "century"]}, "children": "suppress"},
        "length_of_stay",
        {"closeness": {"t": 0.5, "distance": "ordered"}},
    ),
)


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Ten releases of a registry from which every record with a gap was taken out."""
    folder = tmp_path_factory.mktemp("pycanon")
    columns = registry(records=800, seed=3)
    with (folder / "patients.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(complete(columns))
    return [release(case, folder, number) for number, case in enumerate(CASES)]


def complete(columns: dict[str, list[str]]) -> Iterator[tuple[str, ...]]:
    for row in zip(*columns.values(), strict=True):
        if not {"", "?", "unknown"} & set(row):
            yield row


def release(case: Case, folder: Path, number: int) -> Path:
    path = folder / f"release-{number}.csv"
    attributes: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": hierarchy}
        for name, hierarchy in case.quasi_identifiers.items()
    }
    attributes[case.sensitive] = {"role": "sensitive", **case.demand}
    shoal.run(
        {
            "source": str(folder / "patients.csv"),
            "output": str(path),
            "k": case.k,
            "suppression": "10%",
            "attributes": attributes,
            "others": "drop",
        }
    )
    return path


@pytest.mark.slow
def test_pycanon_measures_the_same_k_l_and_t_of_ten_releases(releases: list[Path]) -> None:
    assert PYTHON.exists(), (
        f"there is no {PYTHON}: run scripts/test, which makes an environment with pyCANON, "
        "or let SHOAL_PYCANON name a Python that has it"
    )
    jobs = [
        (str(path), list(case.quasi_identifiers), case.sensitive, case.numeric)
        for path, case in zip(releases, CASES, strict=True)
    ]
    done = subprocess.run(
        [PYTHON, "-c", MEASURE], input=json.dumps(jobs), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    for path, case, theirs in zip(releases, CASES, json.loads(done.stdout), strict=True):
        ours = shoal.check(path, list(case.quasi_identifiers), sensitive=[case.sensitive])
        (reached,) = ours.sensitive
        assert ours.k == theirs["k"] >= case.k
        assert reached.distinct_l == theirs["l"]
        near = {int(reached.entropy_l - 1e-9), int(reached.entropy_l + 1e-9)}
        assert theirs["entropy"] in near  # pyCANON rounds down, from either side of a whole number
        t = reached.t_ordered if case.numeric else reached.t_equal
        assert t == pytest.approx(theirs["t"], abs=1e-9)
