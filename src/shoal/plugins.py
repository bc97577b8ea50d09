"""Parts found by name among the installed distributions: privacy models and losses.

Our own parts are registered the same way as anybody else's, as entry points of a group. A part's
name is what definitions say.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from shoal.errors import MissingExtra, did_you_mean, quoted

GROUPS = {"privacy": "shoal.privacy", "loss": "shoal.loss"}
"""The kinds of parts, and the entry point group of each."""


@dataclass(frozen=True)
class Plugin:
    """An installed part: its kind, its name, what it is, and the distribution it came with."""

    kind: str
    name: str
    reference: str
    distribution: str
    version: str


def installed(kind: str) -> tuple[Plugin, ...]:
    """The installed parts of a kind, by name; nothing is imported."""
    return tuple(
        Plugin(
            kind,
            point.name,
            point.value,
            point.dist.name if point.dist else "unknown",
            point.dist.version if point.dist else "",
        )
        for point in _points(kind)
    )


def names(kind: str) -> tuple[str, ...]:
    """The names of the installed parts of a kind."""
    return tuple(dict.fromkeys(point.name for point in _points(kind)))


def find(kind: str, name: str) -> Any:
    """The part of this name, imported; an error when there is none, or more than one."""
    found = [point for point in _points(kind) if point.name == name]
    if not found:
        raise MissingExtra(
            f"no {kind} part called {name!r}{did_you_mean(name, names(kind))}",
            code="unknown-plugin",
            hint=f"installed are {quoted(names(kind))}; `shoal plugins` lists them",
        )
    if len(found) > 1:
        raise MissingExtra(
            f"{len(found)} distributions bring a {kind} part called {name!r}",
            code="plugin-twice",
            hint="uninstall one of them; `shoal plugins` lists them",
        )
    return _load(kind, found[0])


def summary(plugin: Plugin) -> str:
    """The first line of what a part says of itself; an error when it cannot be imported."""
    point = EntryPoint(plugin.name, plugin.reference, GROUPS[plugin.kind])
    said: str = _load(plugin.kind, point).__doc__ or ""
    return said.strip().partition("\n")[0]


def _load(kind: str, point: EntryPoint) -> Any:
    """The object behind an entry point; an import that fails is that distribution's fault."""
    try:
        return point.load()
    except Exception as error:
        brings = point.dist.name if point.dist else "its distribution"
        raise MissingExtra(
            f"the {kind} part {point.name!r} of {brings} cannot be imported: "
            f"{type(error).__name__}: {error}",
            code="broken-plugin",
            hint=f"install or update {brings}, or choose another part",
        ) from error


def _points(kind: str) -> list[EntryPoint]:
    return sorted(entry_points(group=GROUPS[kind]), key=lambda point: point.name)
