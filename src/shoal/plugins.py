"""Parts found by name among the installed distributions: models, losses, strategies, formats.

Our own parts are registered the same way as anybody else's, as entry points of a group. A part's
name is what definitions say.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from shoal.errors import MissingExtra, did_you_mean, quoted

GROUPS = {
    "privacy": "shoal.privacy",
    "loss": "shoal.loss",
    "strategy": "shoal.strategy",
    "builder": "shoal.builder",
    "reader": "shoal.reader",
    "writer": "shoal.writer",
}
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


def make(kind: str, name: str, parameters: Mapping[str, Any]) -> Any:
    """The part of this name with its parameters; ValueError when they are not those it takes."""
    part = find(kind, name)
    known = inspect.signature(part).parameters
    optional = [key for key, each in known.items() if each.default is not each.empty]
    wrong = [key for key in parameters if key not in known]
    absent = [key for key in known if key not in parameters and key not in optional]
    if wrong or absent:
        takes = [key for key in known if key != "attribute"]
        problem = f"unknown are {quoted(wrong)}" if wrong else f"missing are {quoted(absent)}"
        raise ValueError(f"{name} takes {quoted(takes) or 'no parameters'}; {problem}")
    try:
        return part(**parameters)
    except TypeError as error:
        raise ValueError(f"{name} cannot use its parameters as they are ({error})") from None


def ready(kind: str, name: str) -> Any:
    """The part of this name where it takes no parameters when it is made; a class is called."""
    part = find(kind, name)
    return part() if isinstance(part, type) else part


def by_ending(kind: str, ending: str) -> tuple[str, ...]:
    """The readers or writers of files with an ending, by name; broken ones are passed over."""
    return tuple(name for name, endings in _endings(kind) if ending in endings)


def endings(kind: str) -> tuple[str, ...]:
    """Every ending that the installed readers or writers know."""
    return tuple(dict.fromkeys(each for _, endings in _endings(kind) for each in endings))


def _endings(kind: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for point in _points(kind):
        try:
            yield point.name, tuple(_load(kind, point).endings)
        except MissingExtra:
            continue


def summary(plugin: Plugin) -> str:
    """The first line of what a part says of itself; an error when it cannot be imported."""
    point = EntryPoint(plugin.name, plugin.reference, GROUPS[plugin.kind])
    docstring: str = _load(plugin.kind, point).__doc__ or ""
    return docstring.strip().partition("\n")[0]


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


def _points(kind: str) -> tuple[EntryPoint, ...]:
    return _scan(tuple(_distributions(folder, _changed(folder)) for folder in sys.path))[kind]


@functools.lru_cache(maxsize=8)
def _scan(
    folders: tuple[frozenset[tuple[str, int]], ...],  # noqa: ARG001 the key of the cache
) -> dict[str, tuple[EntryPoint, ...]]:
    """The entry points of each kind, by name.

    A scan reads the metadata of every installed distribution. It is kept until the distributions in
    a folder of the import path change, as they do when something is installed.
    """
    found = entry_points()
    return {
        kind: tuple(sorted(found.select(group=group), key=lambda point: point.name))
        for kind, group in GROUPS.items()
    }


@functools.lru_cache(maxsize=64)
def _distributions(
    folder: str,
    changed: int,  # noqa: ARG001 part of the key of the cache
) -> frozenset[tuple[str, int]]:
    """The metadata folders in a folder of the import path, and when each changed.

    Other files do not count: a script often writes its releases into the folder that it is in.
    """
    try:
        with os.scandir(folder or ".") as entries:
            return frozenset(
                (entry.path, entry.stat().st_mtime_ns)
                for entry in entries
                if entry.name.endswith((".dist-info", ".egg-info"))
            )
    except OSError:
        return frozenset()


def _changed(folder: str) -> int:
    """When something was last added to a folder or removed from it; 0 if there is none."""
    try:
        return os.stat(folder or ".").st_mtime_ns  # noqa: PTH116 quick: every release asks often
    except OSError:
        return 0
