"""Read server.toml: every mistake of the file at once, each with its remedy.

The classes are the tables of the file; `read_settings` makes the frozen `Settings` of them.
"""

from __future__ import annotations

import ipaddress
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
)

from shoal.definition.explain import explain, explain_at
from shoal.definition.parse import dotted
from shoal.definition.scalars import Bytes, DefinitionPart, Seconds, Wrong, nearest, shown
from shoal.definition.sources import SourceChoice
from shoal.errors import BadDefinition, Mistake, UserError
from shoal.web.settings import ROLES, Account, AllowedSource, Limits, MartSettings, Settings

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
HASH = re.compile(r"sha256:[0-9a-f]{64}")
HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]+)?|\[[0-9a-fA-F:]+\](:[0-9]+)?")
EXAMPLES: Mapping[str, str] = {
    "folder": 'folder = "/var/lib/shoal"',
    "host": 'host = "127.0.0.1"',
    "port": "port = 8765",
    "https": "https = true",
    "hosts": 'hosts = ["shoal.example.org"]',
    "proxies": 'proxies = ["127.0.0.1"]',
    "upload": 'upload = "2 GiB"',
    "rows": "rows = 50_000_000",
    "json": 'json = "2 MiB"',
    "job_memory": 'job_memory = "4 GiB"',
    "job_time": 'job_time = "1 h"',
    "jobs_at_once": "jobs_at_once = 2",
    "jobs_per_user": "jobs_per_user = 20",
    "keep": 'keep = "7 d"',
    "silence": 'silence = "30 s"',
    "session": 'session = "12 h"',
    "requests_per_minute": "requests_per_minute = 1200",
    "users": '[[users]] with name = "alice", roles = ["custodian"] and token',
    "name": 'name = "alice"',
    "roles": 'roles = ["custodian"]',
    "token": 'token = "sha256:..." as `shoal serve --new-token NAME` prints it',
    "sources": '[sources.patients] with source = "patients.parquet"',
    "source": 'source = "patients.parquet"',
    "title": 'title = "Patients of 2025"',
    "description": 'description = "One row for each stay"',
    "limits": '[limits] with upload = "2 GiB"',
    "mart": '[mart] with catalog = "catalog.yaml"',
    "catalog": 'catalog = "catalog.yaml"',
    "approval": 'approval = "always"',
}


def _days(value: object) -> object:
    """`7 d` is a duration too."""
    match = re.fullmatch(r"([0-9]+)\s*d", value) if isinstance(value, str) else None
    return f"{int(match[1]) * 24} h" if match else value


def _positive(value: float) -> float:
    if value <= 0:
        raise Wrong(f"{shown(value)} is not above 0", "write a number above 0")
    return value


def _name(value: str) -> str:
    if not NAME.fullmatch(value):
        raise Wrong(
            f"{shown(value)} is no name", "use up to 64 letters, digits and . _ - @ without spaces"
        )
    return value


def _role(value: str) -> str:
    if value not in ROLES:
        raise Wrong(f"{shown(value)} is no role", nearest(value, ROLES))
    return value


def _token(value: str) -> str:
    if not HASH.fullmatch(value):
        raise Wrong(
            "is not the hash of a token",
            "write the line that `shoal serve --new-token NAME` prints; never the token itself",
        )
    return value


def _network(value: str) -> str:
    try:
        ipaddress.ip_network(value)
    except ValueError:
        raise Wrong(
            f"{shown(value)} is no address of a proxy",
            'write its IP address or network, such as "10.0.0.7" or "10.0.0.0/24"',
        ) from None
    return value


def _host_name(value: str) -> str:
    if not HOST.fullmatch(value):
        raise Wrong(
            f"{shown(value)} is no host name",
            'write what is between https:// and the next /, such as "shoal.example.org"',
        )
    return value


def _in_folder(value: Path, info: ValidationInfo) -> Path:
    return Path((info.context or {}).get("folder", ""), value)


Count = Annotated[int, Field(strict=True, ge=1)]
Size = Annotated[Bytes, AfterValidator(_positive)]
Duration = Annotated[Seconds, BeforeValidator(_days), AfterValidator(_positive)]
Name = Annotated[str, AfterValidator(_name)]
Role = Annotated[str, AfterValidator(_role)]
OwnPath = Annotated[Path, AfterValidator(_in_folder)]


class _Limits(DefinitionPart):
    upload: Size = Limits.upload_bytes
    rows: Count = Limits.upload_rows
    json_: Size = Field(Limits.json_bytes, alias="json")
    job_memory: Size = Limits.job_memory
    job_time: Duration = float(Limits.job_seconds)
    jobs_at_once: Count = Limits.jobs_at_once
    jobs_per_user: Count = Limits.jobs_per_user
    keep: Duration = float(Limits.keep_seconds)
    silence: Duration = float(Limits.silent_seconds)
    session: Duration = float(Limits.session_seconds)
    requests_per_minute: Count = Limits.requests_per_minute


class _User(DefinitionPart):
    name: Name
    token: Annotated[str, AfterValidator(_token)]
    roles: Annotated[tuple[Role, ...], Field(min_length=1)]


class _Source(DefinitionPart):
    source: Any
    title: str = ""
    description: str = ""
    users: tuple[Name, ...] = ()
    roles: tuple[Role, ...] = ()


class _Mart(DefinitionPart):
    catalog: OwnPath
    approval: Literal["always", "never"] = "always"


class _File(DefinitionPart):
    folder: OwnPath
    host: str = Settings.host
    port: Annotated[int, Field(strict=True, ge=0, le=65535)] = Settings.port
    https: Annotated[bool, Field(strict=True)] = False
    hosts: tuple[Annotated[str, AfterValidator(_host_name)], ...] = ()
    proxies: tuple[Annotated[str, AfterValidator(_network)], ...] = ()
    limits: _Limits = Field(default_factory=lambda: _Limits.model_validate({}))
    users: Annotated[tuple[_User, ...], Field(min_length=1)]
    sources: Mapping[Name, _Source] = Field(default_factory=dict)
    mart: _Mart | None = None


TABLES: Mapping[str, type[BaseModel]] = {
    "limits": _Limits,
    "users": _User,
    "sources": _Source,
    "mart": _Mart,
}
_Location: TypeAdapter[Any] = TypeAdapter(SourceChoice)


def read_settings(path: Path) -> Settings:
    """The settings in a file; its relative paths are relative to the file's folder."""
    data = _parsed(path)
    folder = path.absolute().parent
    mistakes = list(_mistakes_of_sources(data, folder))
    try:
        file = _File.model_validate(data, context={"folder": folder}, by_alias=True, by_name=False)
    except ValidationError as error:
        found = error.errors(include_url=False)
        broken = {each["loc"][:-1] for each in found} | {each["loc"][:-2] for each in found}
        mistakes += [
            _explain(each)
            for each in found
            if each["type"] != "too_short" or each["loc"] not in broken
        ]
        raise BadDefinition(str(path), mistakes) from None
    if mistakes := [*mistakes, *_mistakes(file)]:
        raise BadDefinition(str(path), mistakes)
    return _settings(file, folder)


def _parsed(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(
            f"no file {path}",
            code="no-file",
            hint="write one as in docs/guides/server.md; `shoal serve --new-token NAME` begins it",
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path} cannot be read", code="file-not-readable", hint="look at its permissions"
        ) from error
    except tomllib.TOMLDecodeError as error:
        what = f"cannot be read as TOML, {str(error)[0].lower()}{str(error)[1:]}"
        remedy = "look at the quotes, brackets and repeated keys there"
        raise BadDefinition(str(path), [Mistake("TOML", what, remedy)]) from None


def _mistakes_of_sources(data: Mapping[str, Any], folder: Path) -> Iterable[Mistake]:
    sources = data.get("sources")
    for name, table in sources.items() if isinstance(sources, Mapping) else ():
        if isinstance(table, Mapping) and "source" in table:
            try:
                _Location.validate_python(table["source"], context={"folder": folder})
            except ValidationError as error:
                for each in error.errors(include_url=False):
                    each["loc"] = ("source", *each["loc"])
                    mistake = explain(each)
                    yield Mistake(f"sources.{name}.{mistake.key}", mistake.what, mistake.remedy)


def _mistakes(file: _File) -> Iterable[Mistake]:
    """Mistakes that need several keys at once."""
    names = [user.name for user in file.users]
    tokens = [user.token for user in file.users]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Mistake("users", f"{name!r} is there twice", "give each user one table and one name")
    if len(set(tokens)) < len(tokens):
        yield Mistake("users", "several users have the same token", "make one for each user")
    for name, source in file.sources.items():
        for user in source.users:
            if user not in names:
                yield Mistake(f"sources.{name}.users", f"{user!r} is no user", nearest(user, names))
    if file.https and not file.hosts:
        yield Mistake("hosts", "is missing", f"name the server, such as `{EXAMPLES['hosts']}`")
    if not file.https and not _is_loopback(file.host):
        yield Mistake(
            "https",
            f"is not set, but {file.host} can be reached over the network",
            "tokens and data would be readable on the way: put a TLS proxy before the server and "
            'write `https = true`, or keep `host = "127.0.0.1"`',
        )
    if file.folder.exists() and not file.folder.is_dir():
        yield Mistake("folder", "is no folder", "name a folder that only the server may read")
    if file.mart and not file.mart.catalog.is_file():
        yield Mistake(
            "mart.catalog", f"no file {file.mart.catalog}", "paths are relative to server.toml"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _explain(error: ErrorDetails) -> Mistake:
    """A mistake in our own words; the users are counted from 1."""
    path = [each + 1 if isinstance(each, int) else each for each in error["loc"]]
    if error["type"] == "too_short":
        return Mistake(
            dotted(tuple(path)), "is empty", f"write for example `{EXAMPLES[str(path[-1])]}`"
        )
    return explain_at(error, tuple(path), _known_keys, EXAMPLES)


def _known_keys(where: tuple[str | int, ...]) -> list[str]:
    """The keys of the table that holds this one."""
    table = TABLES[str(where[0])] if len(where) > 1 else _File
    return [field.alias or name for name, field in table.model_fields.items()]


def _settings(file: _File, folder: Path) -> Settings:
    limits = file.limits
    return Settings(
        folder=file.folder,
        host=file.host,
        port=file.port,
        https=file.https,
        hosts=file.hosts,
        proxies=file.proxies,
        users=tuple(Account(each.name, each.token, frozenset(each.roles)) for each in file.users),
        limits=Limits(
            upload_bytes=limits.upload,
            upload_rows=limits.rows,
            json_bytes=limits.json_,
            job_memory=limits.job_memory,
            job_seconds=int(limits.job_time),
            jobs_at_once=limits.jobs_at_once,
            jobs_per_user=limits.jobs_per_user,
            keep_seconds=int(limits.keep),
            silent_seconds=math.ceil(limits.silence),
            session_seconds=int(limits.session),
            requests_per_minute=limits.requests_per_minute,
        ),
        sources={name: _allowed(name, each, folder) for name, each in file.sources.items()},
        mart=MartSettings(file.mart.catalog, file.mart.approval) if file.mart else None,
    )


def _allowed(name: str, source: _Source, folder: Path) -> AllowedSource:
    """A source whose paths are absolute. Without `users` and `roles` all custodians may use it."""
    roles = source.roles or (() if source.users else ("custodian",))
    return AllowedSource(
        name=name,
        title=source.title or name,
        description=source.description,
        location=_absolute(source.source, folder),
        users=frozenset(source.users),
        roles=frozenset(roles),
    )


def _absolute(location: Any, folder: Path) -> Any:
    if isinstance(location, str):
        return {"path": str(folder / location)}
    if isinstance(location, list):
        return [_absolute(each, folder) for each in location]
    if "path" in location:
        return {**location, "path": str(folder / str(location["path"]))}
    return dict(location)
