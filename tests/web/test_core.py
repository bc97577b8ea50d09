"""Users, sessions, audit log, store, rates, folder lock and log of the server, by themselves."""

from __future__ import annotations

import logging
import sqlite3
import stat
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from nicegui import helpers

from shoal.errors import BadOutput, UserError
from shoal.web.audit import Audit
from shoal.web.folder_lock import lock_folder
from shoal.web.project_definition import allowed_location
from shoal.web.rates import Rate, network_of
from shoal.web.refusals import Forbidden, TooMany
from shoal.web.security import MOST_PAGES, check_page
from shoal.web.services import open_services
from shoal.web.serving import PrivateFormatter, bound_socket
from shoal.web.settings import Account, AllowedSource, Settings
from shoal.web.signatures import remember_signatures
from shoal.web.store import Store
from shoal.web.users import User, Users, hash_of, may_use, require


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store.sqlite")


def test_a_one_time_token_works_once_and_a_new_one_voids_the_old(store: Store) -> None:
    users = Users.single(store, 60)
    assert users.use_one_time_token("") is None
    first, second = users.new_one_time_token(), users.new_one_time_token()
    assert users.use_one_time_token(first) is None
    assert users.use_one_time_token(second) == User(
        "you", frozenset({"custodian", "researcher", "admin"})
    )
    assert users.use_one_time_token(second) is None
    assert users.by_token("") is None


def test_a_session_ends_with_its_time_its_logout_and_its_account(store: Store) -> None:
    account = Account("alice", hash_of("token"), frozenset({"custodian"}))
    users = Users(store, [account], 60)
    alice = users.by_token("token")
    assert alice is not None
    session = users.begin_session(alice)
    assert users.by_session(session) == alice
    assert Users(store, [], 60).by_session(session) is None
    assert all(session not in str(tuple(row)) for row in store.read("SELECT * FROM sessions"))
    users.end_session(session)
    assert users.by_session(session) is None
    assert (
        Users(store, [account], -1).by_session(Users(store, [account], -1).begin_session(alice))
        is None
    )


def test_roles_and_allowed_sources_are_asked_of_the_user() -> None:
    user = User("ruth", frozenset({"researcher"}))
    require(user, "researcher", "admin")
    with pytest.raises(Forbidden, match="custodian"):
        require(user, "custodian")
    source = AllowedSource("s", "S", "", {}, frozenset(), frozenset({"custodian"}))
    assert not may_use(user, source)
    assert may_use(user, AllowedSource("s", "S", "", {}, frozenset({"ruth"}), frozenset()))


def test_a_source_that_was_taken_away_is_not_read_for_old_projects(tmp_path: Path) -> None:
    source = AllowedSource("s", "S", "", {"path": "/x"}, frozenset({"alice"}), frozenset())
    accounts = [Account(name, hash_of(name), frozenset({"custodian"})) for name in ("alice", "bob")]
    settings = Settings(tmp_path / "data", users=tuple(accounts), sources={"s": source})
    with closing(open_services(settings)) as services:
        assert allowed_location(services, "s", "alice") == {"path": "/x"}
        for name, owner in [("s", "bob"), ("s", "nobody"), ("other", "alice")]:
            with pytest.raises(UserError, match="does not allow"):
                allowed_location(services, name, owner)


def test_entries_of_the_audit_log_can_be_added_and_nothing_else(store: Store) -> None:
    audit = Audit(store)
    for number in range(5):
        audit.record("alice", "released", f"job {number}")
    assert [entry.subject for entry in audit.latest(2)] == ["job 4", "job 3"]
    assert [entry.subject for entry in audit.latest(9, before=2)] == ["job 0"]
    for change in ("DELETE FROM audit", "UPDATE audit SET user = 'bob'"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            store.write(change)


def test_a_transaction_that_fails_leaves_nothing(store: Store) -> None:
    store.define("CREATE TABLE IF NOT EXISTS t (x INTEGER);")

    def fail() -> None:
        with store.transaction() as connection:
            connection.execute("INSERT INTO t VALUES (1)")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert store.read("SELECT * FROM t") == []
    assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def test_a_rate_refuses_the_one_too_many_of_each_key(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("shoal.web.rates.time.monotonic", lambda: now)
    rate = Rate(2, "too many")
    rate.hit("a")
    now += 50
    rate.hit("a")
    with pytest.raises(TooMany) as caught:
        rate.hit("a")
    assert caught.value.seconds == 10
    rate.hit("b")
    now += 11
    rate.hit("a")


def test_neighbours_of_an_ipv6_network_are_counted_together() -> None:
    assert network_of("2001:db8::1") == network_of("2001:db8::ffff") != network_of("2001:db9::1")
    assert network_of("10.0.0.1") != network_of("10.0.0.2")
    assert network_of("testclient") == "unknown"


def test_a_user_cannot_fill_the_memory_with_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    eve, bob = (User(name, frozenset({"custodian"})) for name in ("eve", "bob"))
    opened = SimpleNamespace(request=SimpleNamespace(scope={"shoal.user": eve}))
    pages = {str(number): opened for number in range(MOST_PAGES - 1)}
    monkeypatch.setattr("nicegui.Client.instances", pages)
    check_page("/", eve)
    pages["another"] = opened
    with pytest.raises(TooMany):
        check_page("/", eve)
    check_page("/api/v1/jobs", eve)
    check_page("/", bob)


def test_one_server_uses_a_folder_at_a_time(tmp_path: Path) -> None:
    lock = lock_folder(tmp_path / "data")
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700
    with pytest.raises(UserError, match="another server uses the folder"):
        lock_folder(tmp_path / "data")
    lock.release()
    lock_folder(tmp_path / "data").release()
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadOutput, match="cannot be used"):
        lock_folder(tmp_path / "file")


def test_a_port_in_use_is_refused_or_the_next_one_taken() -> None:
    first = bound_socket("127.0.0.1", 0)
    port = first.getsockname()[1]
    with pytest.raises(UserError, match="nothing can listen"):
        bound_socket("127.0.0.1", port)
    second = bound_socket("127.0.0.1", port, or_next=True)
    assert second.getsockname()[1] > port
    first.close()
    second.close()


def test_the_log_has_the_place_of_an_exception_and_not_its_text() -> None:
    formatter = PrivateFormatter("%(message)s")
    try:
        raise ValueError("diagnosis of Ms Smith")
    except ValueError as error:
        texts = [error, "it failed"]
        for text in texts:
            record = logging.LogRecord("x", 40, "f", 1, text, (), sys.exc_info())
            shown = formatter.format(record)
            assert "Smith" not in shown
            assert "ValueError at " in shown
            assert "test_core.py" in shown


def test_the_signature_of_a_method_is_read_once_and_of_a_function_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[object] = []
    original = helpers.expects_arguments

    def look(func: Callable[..., Any]) -> bool:
        read.append(func)
        return original(func)

    class Listener:
        def hear(self, event: object) -> None: ...

        def ring(self) -> None: ...

    monkeypatch.setattr(helpers, "expects_arguments", look)
    remember_signatures()
    listeners = [Listener(), Listener(), Listener()]
    assert [helpers.expects_arguments(each.hear) for each in listeners] == [True] * 3
    assert [helpers.expects_arguments(each.ring) for each in listeners] == [False] * 3
    assert len(read) == 2
    assert [helpers.expects_arguments(lambda: None) for _ in range(3)] == [False] * 3
    assert len(read) == 5
