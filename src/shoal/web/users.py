"""Who may use the server: users, their tokens, and sessions.

A token or a session id has 256 random bits. Only its SHA-256 is stored: a hash of so much
randomness needs no salt and no slow function. Hashes are compared in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass

from shoal.web.rates import Rate
from shoal.web.refusals import Forbidden, NotLoggedIn
from shoal.web.settings import ROLES, Account, AllowedSource
from shoal.web.store import Store

SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (
    hash TEXT PRIMARY KEY, user TEXT NOT NULL, created REAL NOT NULL, ends REAL NOT NULL
);
"""
MOST_SESSIONS = 50
"""How many sessions a user may have; a new one ends the oldest."""
FAILED_LOGINS = 10
"""How many wrong tokens one address may send in a minute."""
LOCAL_USER = "you"
"""The name of the only user of `shoal ui`."""


@dataclass(frozen=True)
class User:
    """Somebody who is logged in."""

    name: str
    roles: frozenset[str]


def new_token() -> str:
    """A new token or session id."""
    return secrets.token_urlsafe(32)


def hash_of(token: str) -> str:
    """What is stored instead of a token."""
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()


def require(user: User, *roles: str) -> None:
    """Refuse a user who has none of these roles."""
    if not user.roles.intersection(roles):
        needed = " or ".join(roles)
        raise Forbidden(f"this needs the role {needed}", f"ask an administrator for {needed}")


def may_use(user: User, source: AllowedSource) -> bool:
    """Whether an administrator allowed this source for this user."""
    return user.name in source.users or bool(user.roles & source.roles)


class Users:
    """The users of a server and their sessions."""

    def __init__(self, store: Store, accounts: Sequence[Account], session_seconds: float) -> None:
        store.define(SCHEMA)
        self._store = store
        self._accounts = {account.name: account for account in accounts}
        self._session_seconds = session_seconds
        self._failed = Rate(FAILED_LOGINS, "too many failed logins from this address")
        self._once: str | None = None
        self._lock = threading.Lock()

    @classmethod
    def single(cls, store: Store, session_seconds: float) -> Users:
        """One user, who has every role and no token but the one-time one."""
        account = Account(LOCAL_USER, "", frozenset(ROLES))
        return cls(store, [account], session_seconds)

    def by_token(self, token: str) -> User | None:
        """The user with this token; every account is compared, whichever one it is."""
        presented = hash_of(token).encode()
        found = None
        for account in self._accounts.values():
            if hmac.compare_digest(presented, account.token_hash.encode()):
                found = account
        return User(found.name, found.roles) if found else None

    def log_in(self, token: str, address: str) -> User:
        """The user with this token. An address that sends too many wrong ones is told to wait.

        A right token is always let in, so nobody can lock others out with wrong ones.
        """
        if user := self.by_token(token):
            return user
        self._failed.hit(address)
        raise NotLoggedIn(
            "this token is not valid", "look whether it is copied whole, or ask for a new one"
        )

    def by_session(self, session: str) -> User | None:
        """The user of a session that has not ended. Roles are those of today's settings."""
        rows = self._store.read(
            "SELECT user FROM sessions WHERE hash = ? AND ends > ?", (hash_of(session), time.time())
        )
        return self.named(rows[0]["user"]) if rows else None

    def named(self, name: str) -> User | None:
        """The user of this name, with today's roles."""
        account = self._accounts.get(name)
        return User(account.name, account.roles) if account else None

    def begin_session(self, user: User) -> str:
        """A new session's id, which is stored nowhere but in the user's cookie."""
        session, now = new_token(), time.time()
        with self._store.transaction() as connection:
            connection.execute("DELETE FROM sessions WHERE ends <= ?", (now,))
            connection.execute(
                "DELETE FROM sessions WHERE user = ? AND hash NOT IN"
                " (SELECT hash FROM sessions WHERE user = ? ORDER BY created DESC LIMIT ?)",
                (user.name, user.name, MOST_SESSIONS - 1),
            )
            connection.execute(
                "INSERT INTO sessions VALUES (?, ?, ?, ?)",
                (hash_of(session), user.name, now, now + self._session_seconds),
            )
        return session

    def end_session(self, session: str) -> None:
        """Log out: the session's id is worthless from now on."""
        self._store.write("DELETE FROM sessions WHERE hash = ?", (hash_of(session),))

    def new_one_time_token(self) -> str:
        """A token that logs the single user in, once. An earlier one that was not used is void."""
        token = new_token()
        with self._lock:
            self._once = hash_of(token)
        return token

    def use_one_time_token(self, token: str) -> User | None:
        """The single user, where this is the token; it is void afterwards."""
        with self._lock:
            presented = hash_of(token).encode()
            if self._once is None or not hmac.compare_digest(presented, self._once.encode()):
                return None
            self._once = None
        account = self._accounts[LOCAL_USER]
        return User(account.name, account.roles)
