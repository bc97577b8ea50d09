"""What every public function does around its work: point at misspelt arguments, log, show progress.

`public` decorates the function. Its signature stays as it is written, for help, editors and type
checkers. An argument that it does not have is a BadDefinition that names the right one. A function
with a parameter `observe` or `watch` gets there what logs its progress and calls what was given; in
a notebook, where nothing was given, the progress is shown below the cell.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from shoal.calling.logs import logged, logged_events, logged_lines
from shoal.calling.notebook import NotebookProgress, in_notebook
from shoal.errors import BadDefinition, Mistake, did_you_mean, quoted

if TYPE_CHECKING:
    from shoal.calling.argument_types import Observer, Watch

P = ParamSpec("P")
R = TypeVar("R")


def public(
    name: str, pointers: Mapping[str, str] = MappingProxyType({}), *, follow: bool = True
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function public, by the name that people call it.

    `pointers` say for words that are no parameters what to write in their place. Without `follow`
    its `watch` is left as it was given.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        parameters = inspect.signature(function).parameters
        followed = [key for key in ("observe", "watch") if follow and key in parameters]

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            mistakes = _mistakes(parameters, len(args), list(kwargs), pointers)
            if mistakes:
                raise BadDefinition(name, mistakes)
            with logged(name), _followed(name, followed, kwargs) as more:
                kwargs.update(more)
                return function(*args, **kwargs)

        return call

    return decorate


def _mistakes(
    parameters: Mapping[str, inspect.Parameter],
    places: int,
    words: Sequence[str],
    pointers: Mapping[str, str],
) -> list[Mistake]:
    """The arguments of a call that the function does not have."""
    found = [
        Mistake(word, "is no parameter", _remedy(word, list(parameters), pointers))
        for word in words
        if word not in parameters
    ]
    unnamed = [
        key for key, each in parameters.items() if each.kind is not inspect.Parameter.KEYWORD_ONLY
    ]
    if places > len(unnamed):
        what = f"only {quoted(unnamed)} can be given without a name"
        following = [key for key in parameters if key not in unnamed][: places - len(unnamed)]
        remedy = "name the others" + (f", as in {following[0]}=..." if following else "")
        found.append(Mistake("arguments", what, remedy))
    return found


def _remedy(word: str, parameters: Sequence[str], pointers: Mapping[str, str]) -> str:
    """What to write in place of a word that is no parameter."""
    folded = word.casefold()
    if folded in pointers:
        return pointers[folded]
    near = did_you_mean(word, parameters)
    return near.removeprefix("; ") or f"possible are {quoted(parameters, limit=40)}"


@contextmanager
def _followed(
    name: str, followed: Sequence[str], given: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The arguments `observe` and `watch`, where the function has them."""
    if not followed:
        yield {}
    elif in_notebook() and all(given.get(key) is None for key in followed):
        with NotebookProgress() as shown:
            yield _logging(name, followed, {"observe": shown.observe, "watch": shown.say})
    else:
        yield _logging(name, followed, given)


def _logging(
    name: str, followed: Sequence[str], given: Mapping[str, Any]
) -> dict[str, Observer | Watch]:
    """The same arguments, which also log."""
    logs: dict[str, Callable[[Any, str], Observer | Watch]] = {
        "observe": logged_events,
        "watch": logged_lines,
    }
    return {key: logs[key](given.get(key), name) for key in followed}
