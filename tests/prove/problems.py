"""Small random problems whose hierarchies are tables, so that plain Python can release them too."""

from __future__ import annotations

import csv
import itertools
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from oracle import Cell, Ladder, Row


@dataclass(frozen=True)
class Problem:
    """Records with their persons and sensitive values; `least` is how many values a class needs.

    `persons` is empty where records are counted. `least` is 1 where nothing is demanded of values.
    """

    rows: tuple[Row, ...]
    persons: tuple[Cell, ...]
    values: tuple[str, ...]
    ladders: tuple[Ladder, ...]
    k: int
    limit: int
    least: int

    @property
    def names(self) -> list[str]:
        return [f"q{j}" for j in range(len(self.ladders))]

    @property
    def nodes(self) -> Iterator[tuple[int, ...]]:
        return itertools.product(*(range(ladder.height + 1) for ladder in self.ladders))

    def labels(self, node: tuple[int, ...]) -> list[Row]:
        """What each record becomes at a node."""
        return [
            tuple(
                ladder.label(c, at) for ladder, c, at in zip(self.ladders, row, node, strict=True)
            )
            for row in self.rows
        ]

    def classes(self, node: tuple[int, ...]) -> dict[Row, list[int]]:
        """The numbers of the records of each class."""
        found: dict[Row, list[int]] = defaultdict(list)
        for i, labels in enumerate(self.labels(node)):
            found[labels].append(i)
        return found

    def safe(self, records: list[int]) -> bool:
        """Whether these records may be a class."""
        members = {self.persons[i] for i in records} if self.persons else set(records)
        return len(members) >= self.k and len({self.values[i] for i in records}) >= self.least


def ladder(rng: Random, name: str) -> Ladder:
    """A hierarchy of 1 to 6 values with 1 to 3 levels above them, the last one a single value."""
    values = [f"{name}{i}" for i in range(rng.randint(1, 6))]
    paths: dict[str, list[str]] = {value: [value] for value in values}
    group = {value: i for i, value in enumerate(values)}
    for level in range(1, rng.randint(1, 3)):
        merged = {i: rng.randrange(i + 1) for i in set(group.values())}
        group = {value: merged[i] for value, i in group.items()}
        for value in values:
            paths[value].append(f"{name} {level}.{group[value]}")
    return Ladder({value: (*path, "*") for value, path in paths.items()})


def problem(rng: Random) -> Problem:
    """A problem that is small enough to try all of its nodes."""
    ladders = tuple(ladder(rng, f"v{j}-") for j in range(rng.randint(1, 3)))
    size = rng.randint(3, 24)
    absent = rng.choice([0, 0, 0.15])
    pools = [[None if rng.random() < absent else v for v in each.steps] for each in ladders]
    rows = tuple(tuple(rng.choice(pool) for pool in pools) for _ in range(size))
    people = [None, *(f"p{i}" for i in range(rng.randint(2, size)))]
    persons = tuple(rng.choices(people, k=size)) if rng.random() < 0.5 else ()
    return Problem(
        rows=rows,
        persons=persons,
        values=tuple(rng.choices(["flu", "gout", "cold"], [5, 3, 1], k=size)),
        ladders=ladders,
        k=rng.randint(2, 4),
        limit=rng.choice([0, 1, rng.randint(0, size)]),
        least=rng.choice([1, 1, 2]),
    )


@dataclass(frozen=True)
class Best:
    """The node of least loss, then fewest suppressed records, then smallest levels."""

    loss: Fraction
    suppressed: int
    node: tuple[int, ...]


def best(problem: Problem) -> Best | None:
    """Try every node; None where no node is safe and releases a record."""
    found = []
    for node in problem.nodes:
        kept = [i for part in problem.classes(node).values() if problem.safe(part) for i in part]
        suppressed = len(problem.rows) - len(kept)
        if kept and suppressed <= problem.limit:
            cells = Fraction(suppressed * len(node)) + sum(
                ladder.iyengar(cell, level)
                for i in kept
                for ladder, cell, level in zip(problem.ladders, problem.rows[i], node, strict=True)
            )
            found.append((cells / len(problem.rows) / len(node), suppressed, node))
    return Best(*min(found)) if found else None


def write(problem: Problem, folder: Path) -> dict[str, Any]:
    """The problem as files, and its definition, which writes release.csv."""
    with (folder / "data.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["person", *problem.names, "ill"])
        for i, row in enumerate(problem.rows):
            person = problem.persons[i] if problem.persons else f"n{i}"
            writer.writerow([person, *row, problem.values[i]])
    attributes: dict[str, Any] = {"person": "identifier", "ill": "keep"}
    for name, each in zip(problem.names, problem.ladders, strict=True):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";").writerows(each.steps.values())
        attributes[name] = {"role": "quasi-identifier", "hierarchy": str(folder / f"{name}.csv")}
    if problem.least > 1:
        attributes["ill"] = {"role": "sensitive", "diversity": {"distinct": problem.least}}
    return {
        "source": str(folder / "data.csv"),
        "output": str(folder / "release.csv"),
        "k": problem.k,
        "suppression": problem.limit,
        "attributes": attributes,
        **({"person": "person"} if problem.persons else {}),
    }
