"""Nodes and their numbers in words, in the reader's locale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from shoal.web.found import SHARES

if TYPE_CHECKING:
    from shoal.web.numbers import Numbers


def node_text(levels: Iterable[int]) -> str:
    """A node as people write it: (1,0,3)."""
    return f"({','.join(map(str, levels))})"


def levels_text(levels: Mapping[str, int]) -> str:
    """The levels with their names: age 1, sex 0."""
    return ", ".join(f"{name} {level}" for name, level in levels.items())


def loss_text(numbers: Numbers, loss: float | None, model: str, digits: int = 2) -> str:
    """A loss: in percent where it is a share, else as a number."""
    if loss is None:
        return "everything"
    return numbers.percent(loss, digits) if model in SHARES else numbers.plain(loss)


def lost_words(numbers: Numbers, loss: float, model: str) -> str:
    """What a release loses, as a part of a sentence."""
    if model in SHARES:
        return f"{numbers.percent(loss)} of the detail is lost"
    return f"the loss is {numbers.plain(loss)} ({model})"


def release_sentence(numbers: Numbers, result: Mapping[str, Any]) -> str:
    """What a person decides about, from the result that a release would have."""
    persons = result.get("smallest_class_persons")
    smallest = int(result["smallest_class"]) if persons is None else int(persons)
    who, others = ("record", "others") if persons is None else ("person", "other persons")
    if smallest == 2:
        others = "other" if persons is None else "other person"
    left_out = numbers.things(int(result["suppressed"]), "record")
    return (
        f"Release {node_text(result['levels'].values())}: every {who} is like at least "
        f"{numbers.count(smallest - 1)} {others}; "
        f"{lost_words(numbers, result['loss'], result['loss_model'])}; {left_out} left out."
    )


def one_in(numbers: Numbers, share: float) -> str:
    """A probability as people say it: 1 in 5."""
    return f"1 in {numbers.count(round(1 / share))}" if share > 0 else "0"
