"""From the text of a definition to plain data: mappings, lists and text, with line numbers.

Every scalar stays the text that is in the file, so `007`, `no` and `1e3` are what they look
like; the model turns text into numbers where it needs numbers. A key that occurs twice, a tag, an
alias that multiplies its content or endless nesting is a mistake, never an accident.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

import yaml

from shoal.errors import Mistake

DEEPEST = 100
"""How deep mappings and lists may be nested."""
MOST_REPEATED = 10_000
"""How many values all aliases of a file together may repeat."""

_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
KeyPath: TypeAlias = tuple[str, ...]


class Unreadable(Exception):
    """The text cannot be parsed as a definition."""

    def __init__(self, *mistakes: Mistake) -> None:
        super().__init__("; ".join(map(str, mistakes)))
        self.mistakes = mistakes


@dataclass(frozen=True)
class Parsed:
    """Plain data, the line of every dotted key, and the mistakes seen on the way.

    `left_out` are keys whose values are left out because a mistake is reported for them.
    """

    data: Any
    lines: Mapping[str, int] = field(default_factory=dict)
    mistakes: tuple[Mistake, ...] = ()
    left_out: tuple[KeyPath, ...] = ()


def parse_json(text: str) -> Parsed:
    """JSON with numbers kept as they are written."""
    mistakes: list[Mistake] = []

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in pairs:
            if key in found:
                mistakes.append(_twice(key, None))
            found.setdefault(key, value)
        return found

    try:
        data = json.loads(
            text, object_pairs_hook=unique, parse_int=str, parse_float=str, parse_constant=str
        )
        deep = _depth(data) > DEEPEST
    except json.JSONDecodeError as error:
        what = f"cannot be read as JSON, {error.msg[0].lower()}{error.msg[1:]}"
        _unreadable("JSON", what, f"look at column {error.colno} of that line", error.lineno)
    except RecursionError:
        deep = True
    if deep:
        _unreadable("JSON", "is nested too deeply", f"nest at most {DEEPEST} levels", None)
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        what = "has half a character, an escape from \\ud800 to \\udfff without its other half"
        _unreadable("JSON", what, "write the whole character", None)
    return Parsed(data, {}, tuple(mistakes))


def _depth(data: Any) -> int:
    """How deep mappings and lists are nested; a scalar alone has depth one."""
    depth, level = 0, [data]
    while level:
        depth += 1
        holders = [node for node in level if isinstance(node, dict | list)]
        level = [child for node in holders for child in _children(node)]
    return depth


def _children(node: dict[str, Any] | list[Any]) -> Iterable[Any]:
    return node.values() if isinstance(node, dict) else node


def parse_yaml(text: str) -> Parsed:
    """One YAML document, built from the events of the parser."""
    try:
        return _Builder(yaml.parse(text, Loader=_Loader)).document()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        what = f"cannot be read as YAML, {error.problem or 'it is broken'}"
        remedy = "look at the indentation, brackets and quotes there"
        _unreadable("YAML", what, remedy, line)
    except yaml.YAMLError:
        _unreadable("YAML", "has a control character", "save the file as plain UTF-8 text", None)


class _Builder:
    """Reads events into plain data; keeps lines, mistakes and anchors as it goes."""

    def __init__(self, events: Iterable[Any]) -> None:
        self.events: Iterator[Any] = iter(events)
        self.lines: dict[str, int] = {}
        self.mistakes: list[Mistake] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.built = 0
        self.repeated = 0

    def document(self) -> Parsed:
        data: Any = None
        documents = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    _unreadable("YAML", "has several documents", "keep one of them", None)
                data = self.value(next(self.events), ())
        return Parsed(data, self.lines, tuple(self.mistakes))

    def value(self, event: Any, path: KeyPath) -> Any:
        """The value that begins with this event."""
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        line = event.start_mark.line + 1
        if len(path) > DEEPEST:
            _unreadable("YAML", "is nested too deeply", f"nest at most {DEEPEST} levels", line)
        if event.tag not in (None, "!"):
            what, remedy = f"has the tag {event.tag!r}", "remove the tag; all values are text"
            self.mistakes.append(Mistake(dotted(path) or "YAML", what, remedy, line))
        before = self.built
        self.built += 1
        if isinstance(event, yaml.ScalarEvent):
            found: Any = event.value
        elif isinstance(event, yaml.SequenceStartEvent):
            found = self.sequence(path)
        else:
            found = self.mapping(path)
        if event.anchor is not None:
            self.anchors[event.anchor] = (found, self.built - before)
        return found

    def sequence(self, path: KeyPath) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            found.append(self.value(event, (*path, str(len(found)))))
        return found

    def mapping(self, path: KeyPath) -> dict[str, Any]:
        """A mapping; a plain `null` or nothing at all after a key is None."""
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            line = event.start_mark.line + 1
            if not isinstance(event, yaml.ScalarEvent) or _is_plain(event, "<<"):
                what = "a key is no plain text"
                _unreadable("YAML", what, "write each key as a word or in quotes", line)
            key = self.value(event, path)
            inside = (*path, key)
            following = next(self.events)
            value = None if _is_plain(following, "", "~", "null") else self.value(following, inside)
            if key in found:
                self.mistakes.append(_twice(dotted(inside), line))
                continue
            self.lines.setdefault(dotted(inside), line)
            found[key] = value
        return found

    def alias(self, event: Any) -> Any:
        """What the anchor means, counted again: sharing is cheap here but not later."""
        line = event.start_mark.line + 1
        if event.anchor not in self.anchors:
            what = f"the alias *{event.anchor} has no anchor before it"
            _unreadable("YAML", what, "write the value out", line)
        found, size = self.anchors[event.anchor]
        self.built += size
        self.repeated += size
        if self.repeated > MOST_REPEATED:
            what = f"aliases repeat more than {MOST_REPEATED:,} values"
            _unreadable("YAML", what, "write the values out", line)
        return found


def dotted(path: tuple[object, ...]) -> str:
    """A path of keys as messages write it: `attributes.zip.limit`."""
    return ".".join(map(str, path))


def _is_plain(event: Any, *texts: str) -> bool:
    """Whether the event is one of these texts without quotes, tag or anchor."""
    return (
        isinstance(event, yaml.ScalarEvent)
        and event.value in texts
        and event.style not in ("'", '"', "|", ">")
        and event.tag is None
        and event.anchor is None
    )


def _twice(key: str, line: int | None) -> Mistake:
    return Mistake(key, "occurs twice", "keep one of them", line)


def _unreadable(language: str, what: str, remedy: str, line: int | None) -> NoReturn:
    raise Unreadable(Mistake(language, what, remedy, line))
