"""A good release is changed in one place, or its result is: nothing unsafe is called safe."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import shoal
from prove.problems import Problem, problem, write
from prove.trial import Declined, Failed, Kind, Trial, run_or_decline

Lines: TypeAlias = list[list[str]]
"""The lines of a release in CSV, the header first."""

Parts: TypeAlias = dict[tuple[str | None, ...], list[str]]
"""The sensitive values of the records of each class."""

EDITED = ("records", "removed", "suppressed", "classes", "smallest_class")
"""The numbers of a result that the verifier can count itself."""


def attack(trial: Trial) -> None:
    """A release is called safe; changed, it is refused where it is unsafe."""
    rng, folder = trial.rng, trial.folder
    small = problem(rng)
    definition = write(small, folder)
    options: dict[str, Any] = {}
    if rng.random() < 0.4:
        definition["recoding"], options["assignment"] = "local", folder / "assignment.json"
    result = run_or_decline(lambda: shoal.run(definition, **options))
    stated: dict[str, Any] = dataclasses.asdict(result)
    release = _read(folder / "release.csv")
    local = release if options else None
    if not called_safe(folder, definition, release, stated):
        raise Failed("the release of a run is not called safe")
    if unsafe(small, release, local):
        raise Failed(f"the release of a run is unsafe: {unsafe(small, release, local)}")
    if rng.random() < 0.25:
        _edit_the_result(rng, folder, definition, release, stated)
        return
    change = rng.choice(CHANGES)
    changed = change(rng, small, [list(line) for line in release])
    lie = fitting(stated, small, changed) if rng.random() < 0.5 else stated
    reason = unsafe(small, changed, local)
    if reason and called_safe(folder, definition, changed, lie):
        raise Failed(f"{change.__name__}: {reason}, but called safe")
    if reason and called_safe(folder, definition, changed, None):
        raise Failed(f"{change.__name__}: {reason}, but called safe without a result")


def _edit_the_result(
    rng: Random, folder: Path, definition: Any, release: Lines, stated: dict[str, Any]
) -> None:
    """A result that states another number than can be counted is refused."""
    key = rng.choice(EDITED)
    edited = {**stated, key: stated[key] + rng.choice([-1, 1, 7])}
    if called_safe(folder, definition, release, edited):
        raise Failed(f"a result with {key} {edited[key]} in place of {stated[key]} is believed")


def called_safe(
    folder: Path, definition: Any, release: Lines, stated: dict[str, Any] | None
) -> bool:
    """What the verifier says of these lines; an error of ours is no yes.

    Whoever changes a release can compute its checksum, so the result has the right one.
    """
    with (folder / "changed.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(release)
    path = None if stated is None else folder / "result.json"
    if path is not None and stated is not None:
        sha256 = hashlib.sha256((folder / "changed.csv").read_bytes()).hexdigest()
        path.write_text(json.dumps({**stated, "output_sha256": sha256}), encoding="utf-8")
    local = folder / "assignment.json" if definition.get("recoding") == "local" else None
    try:
        verdict = run_or_decline(
            lambda: shoal.verify(folder / "changed.csv", definition, result=path, assignment=local)
        )
    except Declined:
        return False
    return verdict.safe


def _read(path: Path) -> Lines:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def unsafe(small: Problem, release: Lines, local: Lines | None = None) -> str:
    """Why no node could have given these lines as a safe release, or nothing.

    With `local` recoding, whose release is given: why no recoding could have, or, where persons
    are counted, this recoding.
    """
    names, *lines = release
    if names != [*small.names, "ill"]:
        return f"columns {names}"
    gone = len(small.rows) - len(lines)
    if not 0 <= gone <= small.limit:
        return f"{gone} records are missing"
    parts = _parts(lines)
    for labels, values in parts.items():
        if len(values) < small.k:
            return f"class {labels} has {len(values)} records"
        if len(set(values) - {""}) < small.least:
            return f"class {labels} has {len(set(values))} values"
    if local is not None:
        return "" if _possible_locally(small, parts, _parts(local[1:])) else "other classes"
    if not any(_possible(small, node, parts) for node in small.nodes):
        return "no node gives these classes"
    return ""


def _parts(lines: Lines) -> Parts:
    """The values of each class by its labels."""
    parts: Parts = {}
    for line in lines:
        parts.setdefault(tuple(label or None for label in line[:-1]), []).append(line[-1])
    return parts


def _possible_locally(small: Problem, parts: Parts, released: Parts) -> bool:
    """Whether all labels are of some level; with persons, whether the classes are those released.

    A column that is only kept is not judged.
    """
    if not small.persons:
        known = [
            {each.label(v, level) for v in (*each.steps, None) for level in range(each.height + 1)}
            for each in small.ladders
        ]
        return all(label in of for labels in parts for label, of in zip(labels, known, strict=True))
    kept = len if small.least == 1 else sorted
    return {k: kept(v) for k, v in parts.items()} == {k: kept(v) for k, v in released.items()}


def _possible(small: Problem, node: tuple[int, ...], parts: Parts) -> bool:
    """Whether all labels are of this node; with persons, whether their classes are whole there."""
    classes = small.classes(node)
    if not small.persons:
        levels = [
            {each.label(value, level) for value in (*each.steps, None)}
            for each, level in zip(small.ladders, node, strict=True)
        ]
        return all(
            label in known for labels in parts for label, known in zip(labels, levels, strict=True)
        )
    return all(
        labels in classes
        and small.safe(classes[labels])
        and _same_values(small, classes[labels], values)
        for labels, values in parts.items()
    )


def _same_values(small: Problem, records: list[int], values: list[str]) -> bool:
    """As many records, and their own values; a column that is only kept is not judged."""
    if small.least == 1:
        return len(records) == len(values)
    return Counter(small.values[i] for i in records) == Counter(values)


def fitting(stated: dict[str, Any], small: Problem, release: Lines) -> dict[str, Any]:
    """The result with the numbers that fit a changed release best."""
    sizes = Counter(tuple(line[: len(small.names)]) for line in release[1:])
    return {
        **stated,
        "suppressed": len(small.rows) - len(release) + 1,
        "classes": len(sizes),
        "smallest_class": min(sizes.values(), default=0),
    }


def ungeneralize(rng: Random, small: Problem, release: Lines) -> Lines:
    """One cell gets a value of the source."""
    j = rng.randrange(len(small.names))
    rng.choice(release[1:])[j] = rng.choice(sorted(small.ladders[j].steps))
    return release


def respell(rng: Random, small: Problem, release: Lines) -> Lines:
    """One label is spelled a little differently."""
    line, j = rng.choice(release[1:]), rng.randrange(len(small.names))
    line[j] = rng.choice([f"{line[j]} ", f" {line[j]}", line[j].upper(), f"{line[j]}\u200b", ""])
    return release


def remove(rng: Random, small: Problem, release: Lines) -> Lines:
    """A record is taken out."""
    del release[rng.randrange(1, len(release))]
    return release


def add(rng: Random, small: Problem, release: Lines) -> Lines:
    """A record is there twice."""
    return [*release, list(rng.choice(release[1:]))]


def move(rng: Random, small: Problem, release: Lines) -> Lines:
    """A record is put into the class of another one."""
    here, there = rng.choice(release[1:]), rng.choice(release[1:])
    here[:-1] = there[:-1]
    return release


def add_column(rng: Random, small: Problem, release: Lines) -> Lines:
    """A column with the person of each record is added."""
    return [[*line, "person" if i == 0 else f"p{i}"] for i, line in enumerate(release)]


def same_value(rng: Random, small: Problem, release: Lines) -> Lines:
    """All records of a class get one sensitive value."""
    chosen = rng.choice(release[1:])
    labels, value = chosen[:-1], chosen[-1]
    return [[*labels, value] if line[:-1] == labels else line for line in release]


CHANGES: list[Callable[[Random, Problem, Lines], Lines]] = [
    *(ungeneralize, respell, remove, add, move, add_column, same_value),
]


KIND = Kind(
    attack,
    tries="a good release or its result is changed in one place",
    fails="`shoal.verify` calls an unsafe one safe",
    limits="one change at a time, in files",
)
