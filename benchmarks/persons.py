"""What does it cost to count persons instead of records?

The same tuples are searched by records and by persons, in turns, and the processor time to the
proof is compared, which other work on the machine disturbs less. First the tables of box.py,
whose records are dealt to persons at random: the number of records of a person is ours to choose.
Then seeded visits of patients, where birth, sex, town and nation are the patient's, and ward,
month and urgency the visit's: there k persons ask for more than k records, so the problem
is another one, too.

    python benchmarks/persons.py
    python benchmarks/persons.py --output benchmarks/results/persons.txt
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from benchmarks.box import DATA, Case

from shoal.definition.demands import loss_of, models_of
from shoal.definition.read import from_mapping
from shoal.encode.persons import persons_of
from shoal.encode.table import encode
from shoal.engines.frames.source import open_frame
from shoal.events import Proved
from shoal.search.incumbent import Limits
from shoal.search.objective import objective_of
from shoal.search.run import problem_of
from shoal.search.strategies.box import BoxSearch

if TYPE_CHECKING:
    from shoal.search.problem import Problem

ROUNDS = 5
OF_PATIENTS = {"birth": 80, "sex": 2, "town": 300, "nation": 40}
OF_VISITS = {"ward": 12, "month": 24, "urgency": 3}
HIERARCHIES: dict[str, object] = {
    "birth": {"intervals": [5, 10, 20, 40]},
    "town": {"mask": 3},
    "month": {"intervals": [3, 6, 12]},
}


def dealt(problem: Problem, records: int) -> Problem:
    """The problem with its records dealt at random to persons with so many records on average."""
    table = problem.table
    rows = np.repeat(np.arange(table.tuples), table.weights)
    person = np.random.default_rng(7).integers(0, len(rows) // records, len(rows))
    person = np.unique(person, return_inverse=True)[1]
    ones = np.ones(len(rows), dtype=np.int64)
    persons = persons_of((person, int(person.max()) + 1), rows, table.tuples, ones)
    return _counting(problem, replace(table, persons=persons))


def visits(patients: int, records: int) -> tuple[Problem, Problem]:
    """Visits of patients as a problem of records, and as one of persons."""
    generator = np.random.default_rng(11)
    person = generator.integers(0, patients, records)
    columns = {"patient": pa.array(person.astype(str))}
    for name, size in OF_PATIENTS.items():
        columns[name] = _texts(_skewed(generator, size, patients)[person], size)
    for name, size in OF_VISITS.items():
        columns[name] = _texts(_skewed(generator, size, records), size)
    attributes = {
        name: {"role": "quasi-identifier", "hierarchy": HIERARCHIES.get(name, "suppress")}
        for name in columns
        if name != "patient"
    }
    given = {"source": "visits.csv", "k": 5, "suppression": "5%", "attributes": attributes}
    found = []
    for person_key in ({}, {"person": "patient"}):
        definition = from_mapping({**given, **person_key, "others": "drop"})
        counted = open_frame(pa.table(columns)).count_by(definition.counted, ())
        table = encode(definition, counted)
        found.append(problem_of(definition, table, models_of(definition), loss_of(definition)))
    by_records, by_persons = found
    return by_records, by_persons


def _skewed(generator: np.random.Generator, size: int, number: int) -> np.ndarray:
    shares = np.arange(1, size + 1) ** -0.7
    return generator.choice(size, number, p=shares / shares.sum())


def _texts(numbers: np.ndarray, size: int) -> pa.Array:
    return pa.array([f"{number:0{len(str(size))}}" for number in numbers])


def _counting(problem: Problem, table: object) -> Problem:
    objective = objective_of(table, problem.objective.loss, "mean")  # type: ignore[attr-defined,arg-type]
    return replace(problem, table=table, objective=objective)  # type: ignore[arg-type]


def cases() -> Iterator[tuple[str, Problem, Problem]]:
    """What is compared: a name, the problem of records and the one of persons."""
    tables = [Case("adult", 9), Case("mach2019", 10), Case("mach2019", 12)]
    for case in tables if DATA.is_dir() else ():
        problem = case.problem()
        for records in (2, 5, 12):
            name = f"{case.data} {case.size}, {records} records a person"
            yield name, problem, dealt(problem, records)
    for patients, records in ((2_500, 30_000), (50_000, 300_000)):
        yield f"{records:,} visits of {patients:,} patients", *visits(patients, records)


def seconds(problem: Problem) -> tuple[float, Proved]:
    """Processor time to the proof, with one thread."""
    started = time.process_time()
    *_, last = BoxSearch().search(problem, Limits(threads=1))
    assert isinstance(last, Proved)
    return time.process_time() - started, last


def line(name: str, by_records: Problem, by_persons: Problem) -> str:
    """Both searches of one case, the shortest of some rounds in turns."""
    rounds = [(seconds(by_records), seconds(by_persons)) for _ in range(ROUNDS)]
    fast = min(each[0][0] for each in rounds)
    slow = min(each[1][0] for each in rounds)
    (_, plain), (_, counted) = rounds[0]
    assert plain.best is not None
    assert counted.best is not None
    return (
        f"{name:<38} {by_records.table.tuples:>8,} tuples: {fast:7.3f} s by records"
        f" ({plain.boxes:,} boxes), {slow:7.3f} s by persons ({counted.boxes:,} boxes),"
        f" {slow / fast:.2f} times; loss {plain.best.loss:.4f} and {counted.best.loss:.4f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, help="save what is printed here")
    options = parser.parse_args()
    lines = [f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}"]
    print(lines[0], flush=True)
    for case in cases():
        lines.append(line(*case))
        print(lines[-1], flush=True)
    if options.output is not None:
        options.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
