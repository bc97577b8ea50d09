"""A node that a person chose: its levels by name, whether it is safe, what it loses more.

`parse_levels` reads the text of a command, `node_of` matches levels with the attributes,
`judge_node` says whether the node may be released, and `compare_with_best` how far it is from the
optimum.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shoal.errors import Infeasible, UserError, did_you_mean, quoted
from shoal.events import Proved, Stopped
from shoal.privacy.base import accepts
from shoal.values import Choice

if TYPE_CHECKING:
    from shoal.encode.table import Attribute, Table
    from shoal.events import Progress
    from shoal.search.problem import Partition, Problem
    from shoal.values import Best, Node

CHOSEN = "chosen"
"""The reason of a search whose best node is not released, since a person chose another one."""


def parse_levels(texts: Sequence[str]) -> dict[str, int]:
    """The levels in texts such as `birth=2,zip=3`.

    A name may have commas and equals signs: the last equals sign before a number ends it.
    """
    levels: dict[str, int] = {}
    wrong: list[str] = []
    for entry in _entries(texts):
        name, equals, number = entry.rpartition("=")
        name, number = name.strip(), number.strip()
        if not equals or not name:
            wrong.append(f"{entry!r} names no column and level")
        elif not re.fullmatch(r"[0-9]{1,9}", number):
            wrong.append(f"{name}: {number!r} is no level")
        elif name in levels:
            wrong.append(f"{name}: is there twice")
        else:
            levels[name] = int(number)
    if wrong or not levels:
        raise _bad_node(wrong or ["no level is given"])
    return levels


def _entries(texts: Sequence[str]) -> Iterator[str]:
    """The parts between commas; one without an equals sign is the beginning of the next."""
    for text in texts:
        begun: list[str] = []
        for part in text.split(","):
            begun.append(part)
            if "=" in part:
                yield ",".join(begun).strip()
                begun = []
        if "".join(begun).strip():
            yield ",".join(begun).strip()


def node_of(table: Table, levels: Mapping[str, Any]) -> Node:
    """The node with these levels; an attribute that allows a single level need not be named."""
    attributes = {attribute.name: attribute for attribute in table.attributes}
    wrong = [
        f"there is no quasi-identifier {name!r}"
        + (did_you_mean(str(name), attributes) or f"; they are {quoted(attributes)}")
        for name in levels
        if name not in attributes
    ]
    for name, attribute in attributes.items():
        if name in levels:
            wrong += _wrong_level(attribute, levels[name])
    left_out = [name for name, each in attributes.items() if name not in levels and _is_open(each)]
    if left_out:
        wrong.append(f"no level is given for {quoted(left_out)}")
    if wrong:
        raise _bad_node(wrong)
    return tuple(levels.get(name, each.lowest) for name, each in attributes.items())


def _is_open(attribute: Attribute) -> bool:
    return attribute.lowest < attribute.limit


def _wrong_level(attribute: Attribute, level: object) -> Iterator[str]:
    name, lowest, limit = attribute.name, attribute.lowest, attribute.limit
    if not isinstance(level, int) or isinstance(level, bool):
        yield f"{name}: {level!r} is no level"
    elif level > attribute.height:
        yield f"{name}: {level} is above its hierarchy, which ends at level {attribute.height}"
    elif level > limit:
        yield f"{name}: {level} is above its limit {limit}"
    elif level < lowest:
        yield f"{name}: {level} is below its lowest level {lowest}"


def _bad_node(wrong: Sequence[str]) -> UserError:
    said = f": {wrong[0]}" if len(wrong) == 1 else "".join(f"\n  {each}" for each in wrong)
    return UserError(
        f"the node cannot be released{said}",
        code="bad-node",
        hint="give each quasi-identifier a level that the definition allows, as in birth=2,zip=3;"
        " `shoal hierarchy show` shows the levels",
    )


def judge_node(problem: Problem, node: Node) -> Best:
    """What the node costs; Infeasible with what is wrong where it is not safe."""
    names = [attribute.name for attribute in problem.table.attributes]
    shown = ", ".join(f"{name}={level}" for name, level in zip(names, node, strict=True))
    below = [
        f"no safe node has level {level} of {name}: too many records would be suppressed"
        for name, level, least in zip(names, node, problem.lattice.bottom, strict=True)
        if level < least
    ]
    if below:
        raise _not_safe(shown, below)
    classes = problem.partition(node)
    best = problem.judge(node, classes)
    if best is None:
        raise _not_safe(shown, list(_faults(problem, classes)))
    return best


def _faults(problem: Problem, classes: Partition) -> Iterator[str]:
    """What keeps a node from being released: numbers only, no label of a class."""
    sizes, records = classes.counts.sizes, problem.table.records
    yield f"without suppression it reaches k = {int(sizes.min()):,}"
    for model in problem.models:
        failing = ~accepts(model, classes.counts)
        if failing.any():
            of = f" of {model.attribute}" if model.attribute else ""
            yield (
                f"{model.name}{of} ({model.demanded()}) refuses {int(failing.sum()):,} of "
                f"{len(sizes):,} classes, {int(sizes[failing].sum()):,} records"
            )
    yield (
        f"{classes.suppressed:,} of {records:,} records would be suppressed, and "
        f"{problem.limit:,} may be"
    )


def _not_safe(node: str, faults: Sequence[str]) -> Infeasible:
    what = f"the chosen node {node} is not safe; nothing was released"
    return Infeasible(
        what + "".join(f"\n  {fault}" for fault in faults),
        code="node-not-safe",
        hint="choose higher levels, allow more suppression, or leave out the node: then the best"
        " one is searched for",
        reasons=(what, *faults),
    )


def compare_with_best(table: Table, chosen: Best, last: Progress) -> tuple[Progress, Choice]:
    """The last event of the search as one about the chosen node, and what the choice costs.

    The bound stays, since it holds for every node. It is proved that none loses less only where the
    search proved its best, and the chosen node loses as little: to 12 decimals, as losses are
    compared everywhere.
    """
    best = chosen if last.best is None else min(last.best, chosen, key=lambda each: each.rank)
    names = [attribute.name for attribute in table.attributes]
    proved, as_good = isinstance(last, Proved), round(chosen.loss, 12) == round(best.loss, 12)
    choice = Choice(
        optimum=best.loss,
        levels=dict(zip(names, best.node, strict=True)),
        more=0.0 if as_good else chosen.loss - best.loss,
        proved=proved,
    )
    if proved and as_good:
        return replace(last, best=chosen), choice
    return (
        Stopped(chosen, last.bound, last.checked, last.boxes, last.seconds, reason=CHOSEN),
        choice,
    )
