"""The log of a mart: a chain that shows every change, and that every crash leaves whole."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import BadData, BadOutput, UserError
from shoal.mart.log import Log, head_path
from shoal.mart.log_chain import Head, canonical, digest_of, read_chain
from shoal.mart.log_view import LogTable

MODULE = import_module("shoal.mart.log")
"""The module: `shoal.mart.log` is also a function."""


def entry(number: int = 1) -> dict[str, object]:
    return {
        "asker": "anna",
        "kind": "released",
        "request": {"project": ["PT"], "select": ["Größe > 3"]},
        "recipe": {"k": 3},
        "result": {"rows_released": number},
    }


def refusal() -> dict[str, object]:
    return {"asker": None, "kind": "refused", "code": "policy", "reason": "k is below 3"}


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """A log of four entries."""
    log = Log(tmp_path / "mart.log")
    for number in range(1, 5):
        log.append(entry(number))
    return log


def lines(log: Log) -> list[bytes]:
    return log.path.read_bytes().splitlines(keepends=True)


def test_entries_are_numbered_chained_and_kept_as_they_were_given(log: Log) -> None:
    entries = log.entries()
    assert [each.number for each in entries] == [1, 2, 3, 4]
    assert [each.previous for each in entries] == ["", *(each.digest for each in entries[:-1])]
    assert [each.result for each in entries] == [{"rows_released": i} for i in range(1, 5)]
    assert entries[0].request == {"project": ["PT"], "select": ["Größe > 3"]}
    assert "Größe" in log.path.read_text("utf-8")


def test_a_digest_can_be_computed_by_hand(log: Log) -> None:
    content = json.loads(lines(log)[2])
    digest = content.pop("digest")
    assert digest == digest_of(content)


def test_append_returns_the_digest_of_its_entry(log: Log) -> None:
    digest = log.append(refusal())
    assert log.entries()[-1].digest == digest
    assert log.check([digest]).verified


def test_nobody_else_can_read_the_log(log: Log) -> None:
    assert log.path.stat().st_mode & 0o777 == 0o600
    assert head_path(log.path).stat().st_mode & 0o777 == 0o600


def test_a_log_that_is_not_there_is_empty_and_looking_does_not_make_it(tmp_path: Path) -> None:
    log = Log(tmp_path / "mart.log")
    assert log.entries() == ()
    assert log.check().verified
    assert list(tmp_path.iterdir()) == []


def test_a_link_to_a_log_is_the_same_log(log: Log) -> None:
    link = log.path.with_name("link.log")
    link.symlink_to(log.path)
    Log(link).append(refusal())
    assert len(log.entries()) == 5
    assert not head_path(link).exists()


def test_only_known_keys_are_logged(log: Log) -> None:
    with pytest.raises(ValueError, match="time"):
        log.append({**entry(), "time": "yesterday"})
    assert len(log.entries()) == 4


def test_any_text_of_an_asker_can_be_logged(log: Log) -> None:
    text = "a\nb\r\u2028\x00\ud800\U0001f600"
    log.append({**entry(), "request": {"purpose": text}})
    stored = log.entries()[-1].request
    assert stored is not None
    assert stored["purpose"] == text.replace("\ud800", "?")
    assert log.check().verified


def broken(log: Log, what: str) -> None:
    """The check says what is wrong, and neither reading nor appending goes on."""
    check = log.check()
    assert not check.verified
    assert what in str(check)
    before = log.path.read_bytes() if log.path.exists() else None
    for go_on in (log.entries, lambda: log.append(refusal())):
        with pytest.raises(BadData) as raised:
            go_on()
        assert raised.value.code == "broken-log"
    assert (log.path.read_bytes() if log.path.exists() else None) == before


def rehashed(content: dict[str, object]) -> bytes:
    del content["digest"]
    return canonical({**content, "digest": digest_of(content)}) + b"\n"


Change = Callable[[list[bytes]], list[bytes]]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            lambda old: [*old[:1], old[1].replace(b"anna", b"otto"), *old[2:]],
            "entry 2: its content",
        ),
        (
            lambda old: [*old[:1], rehashed({**json.loads(old[1]), "asker": "otto"}), *old[2:]],
            "entry 3: it does not follow",
        ),
        (lambda old: [old[0], old[2], old[1], old[3]], "entry 2: it has the number 3"),
        (lambda old: [old[0], *old[2:]], "entry 2: it has the number 3"),
        (lambda old: [*old[:2], *old[1:]], "entry 3: it has the number 2"),
        (lambda old: old[1:], "entry 1: it has the number 2"),
        (lambda old: old[:3], "it has 3 entries, but its head says 4: it was cut"),
        (lambda _: [], "it is gone or empty, but its head says 4: it was cut"),
        (lambda old: [*old[:3], old[3][:-1]], "it has 3 entries, but its head says 4"),
        (lambda old: [*old[:3], old[3][:40]], "it has 3 entries, but its head says 4"),
        (lambda old: [*old, b"\n"], "entry 5: it is no entry"),
        (lambda old: [*old, b"[" * 100_000 + b"\n"], "entry 5: it is no entry"),
        (lambda old: [*old[:3], old[3].replace(b":", b": ", 1)], "entry 4: its content"),
    ],
)
def test_a_changed_log_is_found_with_the_entry_and_refused(
    log: Log, change: Change, what: str
) -> None:
    log.path.write_bytes(b"".join(change(lines(log))))
    broken(log, what)


def test_the_last_entry_exchanged_with_a_new_digest_is_found_by_the_head(log: Log) -> None:
    *first, last = lines(log)
    forged = rehashed({**json.loads(last), "asker": "otto"})
    log.path.write_bytes(b"".join([*first, forged]))
    broken(log, "its head is about entry 4 and does not fit")


@pytest.mark.parametrize("head", [b"", b"{}\n", b'{"digest":"","number":-1}\n', b"\xff", b"[[]]"])
def test_a_damaged_head_is_refused(log: Log, head: bytes) -> None:
    head_path(log.path).write_bytes(head)
    broken(log, "its head file is damaged")


def test_a_head_that_is_gone_is_refused(log: Log) -> None:
    head_path(log.path).unlink()
    broken(log, "its head file is gone")


def test_a_log_that_is_gone_while_its_head_is_there_is_refused(log: Log) -> None:
    log.path.unlink()
    broken(log, "it is gone or empty, but its head says 4")
    assert not log.path.exists()


def test_an_old_head_is_refused(tmp_path: Path) -> None:
    log = Log(tmp_path / "mart.log")
    log.append(entry())
    old = head_path(log.path).read_bytes()
    log.append(entry())
    log.append(entry())
    head_path(log.path).write_bytes(old)
    broken(log, "its head is about entry 1 and does not fit the 3 entries")


def test_a_shorter_log_with_its_older_head_is_found_by_a_kept_digest(log: Log) -> None:
    old, old_head = log.path.read_bytes(), head_path(log.path).read_bytes()
    kept = log.append(entry())
    log.path.write_bytes(old)
    head_path(log.path).write_bytes(old_head)
    assert log.check().verified
    check = log.check([kept])
    assert not check.verified
    assert check.lacking == (kept,)
    assert "No entry has the digest" in str(check)
    assert log.check([log.entries()[0].digest.upper()]).verified


@given(data=st.data())
def test_every_single_changed_byte_is_found(data: st.DataObject) -> None:
    whole, head = _chain_of_three()
    at = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda each: each != whole[at]))
    changed = whole[:at] + bytes([byte]) + whole[at + 1 :]
    assert read_chain(changed, head).faults


@given(data=st.data())
def test_every_removed_piece_is_found(data: st.DataObject) -> None:
    whole, head = _chain_of_three()
    begin = data.draw(st.integers(0, len(whole) - 1))
    end = data.draw(st.integers(begin + 1, len(whole)))
    assert read_chain(whole[:begin] + whole[end:], head).faults


def _chain_of_three() -> tuple[bytes, bytes]:
    previous, written = "", b""
    for number in range(1, 4):
        content = dict.fromkeys(
            ("asker", "code", "output_sha256", "reason", "recipe", "request", "result", "sources")
        ) | {"kind": "released", "number": number, "previous": previous, "time": "2026"}
        previous = digest_of(content)
        written += canonical({**content, "digest": previous}) + b"\n"
    return written, Head(3, previous).text()


@pytest.mark.parametrize("left", [1, 40, 10_000])
def test_an_append_that_crashed_in_its_line_is_removed_by_the_next(log: Log, left: int) -> None:
    torn = canonical({"number": 5, "asker": "x" * 20_000})[:left]
    with log.path.open("ab") as file:
        file.write(torn)
    check = log.check()
    assert check.verified
    assert "A crash left an unfinished entry" in str(check)
    assert len(log.entries()) == 4
    log.append(refusal())
    assert [each.kind for each in log.entries()] == ["released"] * 4 + ["refused"]


def test_an_append_that_crashed_before_its_head_counts(log: Log) -> None:
    head = head_path(log.path).read_bytes()
    log.append(refusal())
    head_path(log.path).write_bytes(head)
    assert len(log.entries()) == 5
    log.append(entry())
    assert [each.number for each in log.entries()] == [1, 2, 3, 4, 5, 6]


def test_the_first_append_may_crash_at_any_step(tmp_path: Path) -> None:
    log = Log(tmp_path / "mart.log")
    log.path.touch()
    log.append(entry())
    head_path(log.path).write_bytes(Head().text())
    assert len(log.entries()) == 1
    log.path.write_bytes(b'{"asker":')
    log.append(entry())
    assert len(log.entries()) == 1
    log.path.unlink()
    head_path(log.path).write_bytes(Head().text())
    log.append(entry())
    assert log.check().verified


def crash_at(step: int, path: Path) -> bool:
    """Append in a process that ends without any cleanup at this step; whether it came so far."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    steps = iter(range(100))

    def crashing(act: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            if next(steps) == step:
                os._exit(9)
            return act(*given)

        return call

    def write(file: IO[bytes], data: bytes) -> None:
        """Two steps: a crash can be in the middle of a write."""
        for part in (data[: len(data) // 2], data[len(data) // 2 :]):
            crashing(file.write)(part)

    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(MODULE, "_write_all", write)
            patch.setattr(os, "fsync", crashing(os.fsync))
            patch.setattr(Path, "replace", crashing(Path.replace))
            Log(path).append(entry(step))
    finally:
        os._exit(0)


@pytest.mark.slow
def test_a_crash_at_any_step_of_an_append_leaves_a_log_that_goes_on(tmp_path: Path) -> None:
    for earlier in (0, 2):
        step, crashed = 0, True
        while crashed:
            log = Log(tmp_path / f"{earlier} {step}.log")
            kept = [log.append(entry()) for _ in range(earlier)]
            crashed = crash_at(step, log.path)
            assert log.check(kept).verified
            kept.append(log.append(refusal()))
            assert log.check(kept).verified
            assert len(log.entries()) - earlier in (1, 2)
            step += 1
        assert step > 8


APPENDING = """
import sys
from pathlib import Path
from shoal.mart.log import Log
log = Log(Path(sys.argv[1]))
text = "x" * 200_000
print("ready", flush=True)
while True:
    entry = {"asker": sys.argv[2], "kind": "released", "request": {"text": text}}
    print(log.append(entry), flush=True)
"""


def appending(path: Path, asker: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", APPENDING, str(path), asker]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_killed_processes_leave_a_whole_log_with_all_that_was_acknowledged(tmp_path: Path) -> None:
    path, known = tmp_path / "mart.log", list[str]()
    chance = random.Random(1)
    for number in range(3):
        processes = [appending(path, f"{number}{each}") for each in "ab"]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0.05, 0.3))
        for process in processes:
            os.kill(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            known += [line for line in output.splitlines(keepends=False) if len(line) == 64]
        check = Log(path).check(known)
        assert check.verified, str(check)
        Log(path).append(refusal())
    entries = Log(path).entries()
    assert len(known) > 3
    assert sum(each.kind == "refused" for each in entries) == 3
    assert sorted(p.name for p in tmp_path.iterdir() if p.suffix != ".new") == [
        "mart.log",
        "mart.log.head",
    ]


def test_many_threads_append_one_after_the_other(tmp_path: Path) -> None:
    path = tmp_path / "mart.log"
    with ThreadPoolExecutor(8) as pool:
        digests = set(pool.map(lambda i: Log(path).append(entry(i)), range(40)))
    entries = Log(path).entries()
    assert [each.number for each in entries] == list(range(1, 41))
    assert {each.digest for each in entries} == digests


def test_nobody_appends_while_the_log_is_held(log: Log) -> None:
    with log.locked() as held:
        with pytest.raises(UserError) as raised:
            Log(log.path, wait=0.05).append(entry())
        assert raised.value.code == "log-busy"
        assert len(held.entries) == 4
        held.append(refusal())
        held.append(refusal())
        assert len(held.entries) == 6
    assert len(log.entries()) == 6


def test_a_log_that_is_replaced_while_a_request_waits_is_read_anew(log: Log) -> None:
    with ThreadPoolExecutor(1) as pool, log.locked():
        waiting = pool.submit(log.append, refusal())
        time.sleep(0.1)
        copy = log.path.with_suffix(".copy")
        copy.write_bytes(log.path.read_bytes())
        copy.replace(log.path)
    waiting.result()
    assert len(log.entries()) == 5


@pytest.mark.parametrize("name", ["no folder/mart.log", "folder", "mart.log/below"])
def test_a_path_that_cannot_be_a_log_is_refused(log: Log, name: str) -> None:
    (log.path.parent / "folder").mkdir()
    with pytest.raises(BadOutput) as raised:
        Log(log.path.parent / name).append(entry())
    assert raised.value.code == "cannot-write"


def test_a_full_disk_leaves_the_log_as_it_was(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = log.path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadOutput) as raised:
        log.append(entry())
    assert raised.value.code == "disk-full"
    assert log.path.read_bytes() == whole


def test_the_table_shows_what_became_of_each_request(log: Log) -> None:
    log.append(refusal())
    shown = str(LogTable(log.entries()))
    assert "5 requests, 4 released." in shown
    assert "k is below 3 [policy]" in shown
    assert "+00:00" not in shown
    assert LogTable(log.entries()).records()[1]["rows"] == 2
    assert "0 requests" in str(LogTable(()))
