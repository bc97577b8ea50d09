"""Keep the places of the server out of what users read: paths of files, addresses of databases.

A job gets the real places in its arguments. An error about one of them names it, as on the command
line. Users see a source by its title only, so the places are replaced by plain words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from shoal.engines.options import without_password

FILES = "files"
KEYS = frozenset(("path", "url", "spark", "master", FILES))
"""The keys of arguments with places."""
SOURCE = "the source"
SERVER = "the server"


def without_places(content: Any, arguments: Any) -> Any:
    """The same content, without the places that the arguments of a job have; longest first."""
    words = {name: word for name, word in _words(arguments) if len(name) > 3}
    names = sorted(words, key=len, reverse=True)

    def hidden(value: Any) -> Any:
        if isinstance(value, str):
            for name in names:
                value = value.replace(name, words[name])
            return value
        if isinstance(value, Mapping):
            return {key: hidden(inner) for key, inner in value.items()}
        return [hidden(inner) for inner in value] if isinstance(value, list) else value

    return hidden(content)


def _words(arguments: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Each place in the arguments, and what is said instead."""
    if isinstance(arguments, Mapping):
        for name, value in arguments.items():
            yield from _words(value, FILES if key == FILES else str(name))
    elif isinstance(arguments, list):
        for value in arguments:
            yield from _words(value, key)
    elif isinstance(arguments, str) and key in KEYS:
        yield from _words_of_place(arguments)


def _words_of_place(place: str) -> Iterator[tuple[str, str]]:
    path = PurePath(place)
    if "://" in place:
        yield from ((place, SOURCE), (without_password(place), SOURCE))
        host = place.partition("://")[2].partition("/")[0].rpartition("@")[2]
        yield from ((host, SERVER), (host.partition(":")[0], SERVER))
    elif path.is_absolute() and len(path.parts) > 2:
        yield from ((place, SOURCE), (str(path.parent), f"of {SERVER}"), (path.name, SOURCE))
