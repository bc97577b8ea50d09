"""Nodes and local recodings in words, their numbers in the reader's locale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from shoal.web.found import SHARES

if TYPE_CHECKING:
    from shoal.web.numbers import Numbers


def node_text(levels: Iterable[int]) -> str:
    """A node as people write it: (1,0,3)."""
    return f"({','.join(map(str, levels))})"


def recoding_text(levels: Mapping[str, Any]) -> str:
    """What was found: a node, or that levels differ from class to class."""
    return "levels by class" if is_mixed(levels) else node_text(levels.values())


def is_mixed(levels: Mapping[str, Any]) -> bool:
    """Whether the levels are those of a local recoding: records at each level."""
    return any(isinstance(each, Mapping) for each in levels.values())


def level_words(level: Any, height: int) -> str:
    """The level of a column: `2 of 4`, or `0 to 2 of 4` where classes have different ones."""
    return f"{level_span(level)} of {height}"


def level_span(level: Any) -> str:
    """A level, or the lowest and the highest of several levels: `0 to 2`."""
    if isinstance(level, int):
        return str(level)
    used = sorted(map(int, level)) or [0]
    return str(used[0]) if used[0] == used[-1] else f"{used[0]} to {used[-1]}"


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
    mixed = is_mixed(result["levels"])
    what = "with levels by class" if mixed else node_text(result["levels"].values())
    return (
        f"Release {what}: every {who} is like at least "
        f"{numbers.count(smallest - 1)} {others}; "
        f"{lost_words(numbers, result['loss'], result['loss_model'])}; {left_out} left out."
    )


def full_domain_words(
    numbers: Numbers, full_domain: Mapping[str, float | None] | None, model: str
) -> str:
    """What one level for each column would lose, as far as a search for local recoding knows."""
    if full_domain is None:
        return ""
    loss = full_domain["loss"]
    least = loss_text(numbers, full_domain["bound"], model)
    if loss is None:
        return f"One level per column would lose at least {least}."
    most = loss_text(numbers, loss, model)
    between = most if most == least else f"between {least} and {most}"
    return f"One level per column would lose {between}."


def one_in(numbers: Numbers, share: float) -> str:
    """A probability as people say it: 1 in 5."""
    return f"1 in {numbers.count(round(1 / share))}" if share > 0 else "0"
