"""Whoever edits a result, or a release, or both, does not get a bad release called safe."""

from __future__ import annotations

import csv
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import shoal
from shoal.errors import UserError
from shoal.report.result import write_result

K = 3
ROWS = [
    (f"p{i % 24}", str(20 + i * 7 % 40), f"{8000 + i * 13 % 40}", ["flu", "gout", "cold"][i % 3])
    for i in range(60)
]
NAMES = ["id", "age", "zip", "ill"]


class Folder:
    """A source, what was demanded of its release, the release, and the result of the run."""

    def __init__(self, path: Path, source: str, **others: Any) -> None:
        self.path, self.source = path, path / "people.csv"
        _write(self.source, [NAMES, *ROWS])
        place: Any = str(self.source)
        if source == "table":
            place = {"url": f"sqlite:///{path / 'people.db'}", "table": "people"}
            with sqlite3.connect(path / "people.db") as connection:
                connection.execute("CREATE TABLE people (id TEXT, age TEXT, zip TEXT, ill TEXT)")
                connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", ROWS)
            connection.close()
        self.definition: dict[str, Any] = {
            "source": place,
            "output": str(path / "release.csv"),
            "k": K,
            "suppression": 4,
            "attributes": {
                "id": "identifier",
                "age": {"role": "quasi-identifier"},
                "zip": {"role": "quasi-identifier", "hierarchy": {"mask": [1, 2, 4]}},
                "ill": {"role": "sensitive", "closeness": {"t": 0.6}},
            },
            **others,
        }
        result = shoal.run(self.definition)
        write_result(result, path / "result.json")
        self.result: dict[str, Any] = json.loads((path / "result.json").read_text(encoding="utf-8"))
        with (path / "release.csv").open(encoding="utf-8", newline="") as file:
            self.header, *self.release = list(csv.reader(file))

    def safe(self, release: list[list[str]], result: dict[str, Any]) -> bool:
        """Whether a release with a result is called safe; an error is no yes.

        Whoever edits a release can compute its checksum, so the result has the right one.
        """
        _write(self.path / "other.csv", [self.header, *release])
        sha256 = hashlib.sha256((self.path / "other.csv").read_bytes()).hexdigest()
        stated = {**result, "output_sha256": sha256}
        (self.path / "result.json").write_text(json.dumps(stated), encoding="utf-8")
        try:
            verdict = shoal.verify(
                self.path / "other.csv", self.definition, result=self.path / "result.json"
            )
        except UserError:
            return False
        return verdict.safe


def _write(path: Path, rows: list[Any]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def classes(release: list[list[str]]) -> list[tuple[str, ...]]:
    found = sorted({tuple(row[:2]) for row in release})
    assert len(found) > 2
    return found


def without_a_class(release: list[list[str]]) -> list[list[str]]:
    """More records suppressed than may be: the class of the most records is not there."""
    sizes = {each: sum(tuple(row[:2]) == each for row in release) for each in classes(release)}
    gone = max(sizes, key=lambda each: sizes[each])
    assert sizes[gone] > 4
    return [row for row in release if tuple(row[:2]) != gone]


def small_class(release: list[list[str]]) -> list[list[str]]:
    """A class of one record."""
    label = classes(release)[0]
    rows = [row for row in release if tuple(row[:2]) == label]
    return [row for row in release if tuple(row[:2]) != label] + rows[:1]


def one_value(release: list[list[str]]) -> list[list[str]]:
    """A class with a sensitive value that hardly anybody has."""
    label = classes(release)[0]
    return [[*row[:2], "gout"] if tuple(row[:2]) == label else row for row in release]


def twice(release: list[list[str]]) -> list[list[str]]:
    """Records that the source does not have."""
    return release * 2


UNSAFE: list[Callable[[list[list[str]]], list[list[str]]]] = [
    without_a_class,
    small_class,
    one_value,
    twice,
]


def renumbered(value: Any, number: int) -> Any:
    """The same with another number in place of each."""
    if isinstance(value, dict):
        return {key: renumbered(each, number) for key, each in value.items()}
    if isinstance(value, list):
        return [renumbered(each, number) for each in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return number if is_number else value


def edited(folder: Folder, release: list[list[str]]) -> Iterator[dict[str, Any]]:
    """The result with each number changed to the one that is right for the release."""
    for key, value in folder.result.items():
        if renumbered(value, len(release)) != value:
            yield {**folder.result, key: renumbered(value, len(release))}


def lies(folder: Folder, release: list[list[str]]) -> Iterator[dict[str, Any]]:
    """The result as it was, and as it fits the release best."""
    yield folder.result
    sizes = [sum(row[:2] == list(each) for row in release) for each in classes(release)]
    fitting = {
        "records": len(release),
        "suppressed": 0,
        "classes": len(sizes),
        "smallest_class": min(sizes),
        "sources": {"people.csv": len(release)},
    }
    for sha256 in (folder.result["input_sha256"], None, "0" * 64):
        yield {**folder.result, **fitting, "input_sha256": sha256}
        more = {"records": len(release) + 4, "suppressed": 4, "input_sha256": sha256}
        yield {**folder.result, **fitting, **more}
        coarse = {"hierarchies": {"age": "suppress"}, "levels": {"age": 1, "zip": 3}}
        yield {**folder.result, **fitting, **coarse, "input_sha256": sha256}
        tree = {"age": {"tree": {"*": sorted({row[0] for row in release})}}}
        yield {**folder.result, **fitting, "hierarchies": tree, "input_sha256": sha256}


@pytest.fixture(scope="module", params=["file", "table"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return Folder(tmp_path_factory.mktemp("tampered"), request.param)


@pytest.mark.slow
def test_the_release_and_the_result_of_a_run_are_called_safe(folder: Folder) -> None:
    assert folder.safe(folder.release, folder.result)


@pytest.mark.slow
@pytest.mark.parametrize("change", UNSAFE)
def test_no_edited_result_makes_an_unsafe_release_safe(
    folder: Folder, change: Callable[[list[list[str]]], list[list[str]]]
) -> None:
    release = change(folder.release)
    for result in lies(folder, release):
        assert not folder.safe(release, result)


@pytest.mark.slow
def test_no_edited_number_makes_an_unsafe_release_safe(folder: Folder) -> None:
    release = without_a_class(folder.release)
    for result in edited(folder, release):
        assert not folder.safe(release, result)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        *[("records",), ("removed",), ("suppressed",), ("classes",), ("smallest_class",)],
        *[("levels", "age"), ("levels", "zip")],
    ],
)
@pytest.mark.parametrize("by", [-1, 1])
def test_a_result_that_says_another_number_than_the_source_and_the_release_is_refused(
    folder: Folder, path: tuple[str, ...], by: int
) -> None:
    key, *inside = path
    value = folder.result[key]
    changed = {**value, inside[0]: value[inside[0]] + by} if inside else value + by
    assert not folder.safe(folder.release, {**folder.result, key: changed})


@pytest.mark.slow
def test_a_table_that_has_changed_since_the_run_is_not_the_one_of_the_result(
    tmp_path: Path,
) -> None:
    folder = Folder(tmp_path, "table")
    assert folder.result["input_sha256"] is None
    with sqlite3.connect(tmp_path / "people.db") as connection:
        connection.execute("INSERT INTO people VALUES ('p99', '20', '8000', 'flu')")
    connection.close()
    assert not folder.safe(folder.release, folder.result)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["suppressed", "classes", "smallest_class"])
def test_the_numbers_of_a_release_with_marked_records_are_held_against_it_too(
    tmp_path: Path, key: str
) -> None:
    folder = Folder(tmp_path, "table", suppressed="mark")
    assert folder.safe(folder.release, folder.result)
    assert not folder.safe(folder.release, {**folder.result, key: folder.result[key] + 1})
