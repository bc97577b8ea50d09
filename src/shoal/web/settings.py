"""What a server is told once, when it starts: where, who, how much, and which data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

ROLES = ("custodian", "researcher", "admin")
GIB = 1024**3
MIB = 1024**2
DAY = 24 * 3600


@dataclass(frozen=True)
class Limits:
    """How much one request, upload, job or user may take."""

    upload_bytes: int = 2 * GIB
    upload_rows: int = 50_000_000
    json_bytes: int = 2 * MIB
    job_memory: int = 4 * GIB
    job_seconds: int = 3600
    jobs_at_once: int = 2
    jobs_per_user: int = 20
    keep_seconds: int = 7 * DAY
    silent_seconds: int = 30
    session_seconds: int = 12 * 3600
    requests_per_minute: int = 1200


@dataclass(frozen=True)
class Account:
    """A user of a server: the name, the hash of the token, and the roles."""

    name: str
    token_hash: str
    roles: frozenset[str]


@dataclass(frozen=True)
class AllowedSource:
    """A source that an administrator allows. Users see its name, title and description only.

    `location` is a `source:` of a definition with absolute paths. Whoever is among `users` or has
    one of the `roles` may use it.
    """

    name: str
    title: str
    description: str
    location: Any
    users: frozenset[str] = frozenset()
    roles: frozenset[str] = frozenset({"custodian"})


@dataclass(frozen=True)
class MartSettings:
    """The data mart: its catalog, which names its log, and who decides about a request.

    With `always` a custodian approves each request that the policy allows; with `never` the policy
    alone decides.
    """

    catalog: Path
    approval: Literal["always", "never"] = "always"


@dataclass(frozen=True)
class Settings:
    """Everything that server.toml says, or that `shoal ui` decides.

    `folder` is private to the server. `https` makes cookies Secure. `hosts` are the names under
    which the server is asked; requests with another Host are refused. `proxies` are the addresses
    whose X-Forwarded headers are believed. With `single_user` there is one user, who has every role
    and logs in with the address that the terminal shows.
    """

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8765
    https: bool = False
    hosts: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    users: tuple[Account, ...] = ()
    limits: Limits = field(default_factory=Limits)
    sources: Mapping[str, AllowedSource] = field(default_factory=dict)
    mart: MartSettings | None = None
    single_user: bool = False
