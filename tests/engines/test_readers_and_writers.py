"""Formats by entry point: what a reader or writer of anybody may do, and what it may not."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal import plugins
from shoal.engines.base import Generalization, Recoding
from shoal.engines.duckdb.files import open_files
from shoal.engines.opening import check_target, open_source, recode_into
from shoal.engines.options import DatabaseOptions, DatabaseTarget, FileOptions, FileTarget
from shoal.errors import BadData, BadOutput

ROWS = [("a", "1", " x "), ("b", None, "y,\n"), ("a", "1", None), ("é", "007", "z;\"'")]
NAMES = ("u", "v", "w x")


class Lines:
    """A table of one column, a record on each line."""

    endings = (".lines",)
    takes = ("column",)

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        name = options.get("column", "line")
        for line in path.read_text(encoding="utf-8").splitlines():
            yield pa.record_batch({name: pa.array([line or None], pa.string())})

    def write(self, batches: pa.RecordBatchReader, path: Path, options: Mapping[str, str]) -> None:
        with path.open("w", encoding="utf-8") as file:
            for batch in batches:
                file.writelines(f"{value or ''}\n" for value in batch.column(0).to_pylist())


class Broken(Lines):
    """A reader that fails as strangers' code may."""

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"a": pa.array(["secret"], pa.string())})
        raise KeyError("secret")

    def write(self, batches: pa.RecordBatchReader, path: Path, options: Mapping[str, str]) -> None:
        path.write_text("half", encoding="utf-8")
        raise KeyError("secret")


class Numbers(Lines):
    """A reader that gives numbers in place of text."""

    def read(self, path: Path, options: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"a": pa.array([1])})


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lets a test install readers and writers."""

    def installed(**parts: type) -> None:
        known = {
            kind: [
                EntryPoint(name, f"{part.__module__}:{part.__qualname__}", kind)
                for name, part in parts.items()
            ]
            for kind in ("reader", "writer")
        }
        points, load = plugins._points, plugins._load
        monkeypatch.setattr(plugins, "_points", lambda kind: [*points(kind), *known.get(kind, [])])
        monkeypatch.setattr(
            plugins,
            "_load",
            lambda kind, point: parts[point.name] if point.name in parts else load(kind, point),
        )

    return installed


def test_a_format_of_a_plug_in_is_read_and_written_by_its_ending(
    install: Any, tmp_path: Path
) -> None:
    install(lines=Lines)
    (tmp_path / "in.lines").write_text("a\nb\na\n\na\nb\n", encoding="utf-8")
    result = shoal.run(
        {
            "source": {"path": str(tmp_path / "in.lines"), "options": {"column": "line"}},
            "output": str(tmp_path / "out.lines"),
            "k": 2,
            "suppression": 1,
            "attributes": {"line": {"role": "quasi-identifier", "hierarchy": "suppress"}},
        }
    )
    assert result.verified
    assert (tmp_path / "out.lines").read_text(encoding="utf-8") == "a\na\na\nb\nb\n"


def test_a_reader_that_fails_is_named_without_what_it_read(install: Any, tmp_path: Path) -> None:
    install(broken=Broken, numbers=Numbers)
    (tmp_path / "x").write_text("x", encoding="utf-8")
    for name in ("broken", "numbers"):
        with pytest.raises(BadData) as caught:
            open_files(FileOptions(str(tmp_path / "x"), format=name))
        assert caught.value.code == "reader-failed"
        assert name in caught.value.what
        assert "secret" not in str(caught.value)


def test_a_writer_that_fails_leaves_nothing_behind(install: Any, tmp_path: Path) -> None:
    install(broken=Broken)
    (tmp_path / "in.csv").write_text("a\nx\n", encoding="utf-8")
    with closing(open_files(FileOptions(str(tmp_path / "in.csv")))) as source:
        recoding = everything(("a",), {"x"})
        with pytest.raises(BadOutput) as caught:
            recode_into(source, recoding, FileTarget(tmp_path / "out", format="broken"))
    assert caught.value.code == "writer-failed"
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


def test_two_readers_of_one_ending_ask_which(install: Any, tmp_path: Path) -> None:
    install(lines=Lines, broken=Broken)
    (tmp_path / "x.lines").write_text("x", encoding="utf-8")
    with pytest.raises(BadData, match="'lines', 'broken'"):
        open_files(FileOptions(str(tmp_path / "x.lines")))
    with closing(open_files(FileOptions(str(tmp_path / "x.lines"), format="lines"))) as source:
        assert source.count_by([]).to_pydict() == {"#records": [1]}


def test_an_unknown_format_lists_what_is_installed(tmp_path: Path) -> None:
    (tmp_path / "x.foo").write_text("x", encoding="utf-8")
    with pytest.raises(BadData) as caught:
        open_files(FileOptions(str(tmp_path / "x.foo")))
    assert caught.value.code == "unknown-format"
    assert "'.xlsx'" in caught.value.hint
    assert "'.xml'" in caught.value.hint
    with pytest.raises(BadData, match="did you mean 'excel'"):
        open_files(FileOptions(str(tmp_path / "x.foo"), format="exel"))
    with pytest.raises(BadOutput, match="did you mean 'excel'"):
        check_target(FileTarget(tmp_path / "out", format="exel"))


def test_options_of_a_writer_are_checked_before_any_work(tmp_path: Path) -> None:
    for target, words in (
        (FileTarget(tmp_path / "o.xml", options={"rwo": "a"}), "did you mean 'row'"),
        (FileTarget(tmp_path / "o.csv", options={"row": "a"}), "csv takes no options"),
    ):
        with pytest.raises(BadOutput, match=words) as caught:
            check_target(target)
        assert caught.value.code == "unknown-option"


PLACES = ("csv", "parquet", "json", "jsonl", "xml", "xlsx", "db")


def everything(names: tuple[str, ...], values: set[str]) -> Recoding:
    """All records as they are; the first column has these values."""
    listed = pa.table({names[0]: pa.array(sorted(values))})
    return Recoding(names, {names[0]: Generalization((), ())}, listed, ())


PEOPLE = everything(NAMES, {row[0] for row in ROWS})


def put(folder: Path, kind: str) -> FileOptions | DatabaseOptions:
    """The rows in a file, frame or table, written without Shoal where that is easy."""
    table = pa.table({name: [row[i] for row in ROWS] for i, name in enumerate(NAMES)})
    if kind == "db":
        with closing(sqlite3.connect(folder / "in.db")) as database:
            database.execute('CREATE TABLE people (u TEXT, v TEXT, "w x" TEXT)')
            database.executemany("INSERT INTO people VALUES (?, ?, ?)", ROWS)
            database.commit()
        return DatabaseOptions(f"sqlite:///{folder / 'in.db'}", "people")
    from shoal.engines.frames.source import open_frame

    with closing(open_frame(table)) as source:
        recode_into(source, PEOPLE, FileTarget(folder / f"in.{kind}")).publish()
    return FileOptions(str(folder / f"in.{kind}"))


@pytest.mark.slow
@pytest.mark.parametrize("into", PLACES)
@pytest.mark.parametrize("given", PLACES)
def test_any_engine_is_read_and_any_is_written(tmp_path: Path, given: str, into: str) -> None:
    target: FileTarget | DatabaseTarget = FileTarget(tmp_path / f"out.{into}")
    written: FileOptions | DatabaseOptions = FileOptions(str(tmp_path / f"out.{into}"))
    if into == "db":
        url = f"sqlite:///{tmp_path / 'out.db'}"
        target, written = DatabaseTarget(url, "released"), DatabaseOptions(url, "released")
    with closing(open_source(put(tmp_path, given))) as source:
        staged = recode_into(source, PEOPLE, target)
        staged.publish()
    with closing(open_source(written)) as released:
        assert tuple(column.name for column in released.columns()) == NAMES
        rows = released.count_by(NAMES).to_pylist()
    found = Counter({tuple(row[name] for name in NAMES): row["#records"] for row in rows})
    assert found == Counter(ROWS)
