"""The best local recoding of a few records, by trying every partition: dictionaries and loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from oracle import Cell, Ladder, Row

Judge = Callable[[Sequence[int]], bool]
"""Whether these records, by their numbers, may be a class."""

JudgeAll = Callable[[Sequence[int]], bool]
"""Whether classes of these sizes may be released together."""

Costs = Callable[[int, Cell, int], float]
"""What a cell of an attribute costs at a level."""


def levels_of(
    rows: Sequence[Row], ladders: Sequence[Ladder], levels: Sequence[range]
) -> tuple[int, ...] | None:
    """The lowest allowed level of each attribute at which all rows have one label, or None."""
    found = []
    for j, (ladder, allowed) in enumerate(zip(ladders, levels, strict=True)):
        agree = [
            level
            for level in allowed
            if len({_identity(ladder, row[j], level) for row in rows}) == 1
        ]
        if not agree:
            return None
        found.append(agree[0])
    return tuple(found)


def _identity(ladder: Ladder, cell: Cell, level: int) -> tuple[bool, Cell]:
    """A label; that of missing cells is no text unless they have joined the only value."""
    label = ladder.label(cell, level)
    return (label is None, label)


def partitions(records: Sequence[int]) -> Iterator[list[list[int]]]:
    """Every way to partition records into groups."""
    if not records:
        yield []
        return
    first, rest = records[0], records[1:]
    for smaller in partitions(rest):
        yield [[first], *smaller]
        for i, group in enumerate(smaller):
            yield [*smaller[:i], [first, *group], *smaller[i + 1 :]]


def least_loss(
    rows: Sequence[Row],
    ladders: Sequence[Ladder],
    levels: Sequence[range],
    suppression: int,
    judge: Judge,
    judge_all: JudgeAll,
    cost: Costs,
    join: Callable[[Sequence[float]], float],
) -> float | None:
    """The least loss of all local recodings within the suppression limit; None if there is none.

    One more group is that of the suppressed records, marked by the number -1.
    """
    known: dict[tuple[int, ...], list[float] | None] = {}

    def losses(group: Sequence[int]) -> list[float] | None:
        key = tuple(sorted(group))
        if key not in known:
            chosen = [rows[i] for i in key]
            found = levels_of(chosen, ladders, levels) if judge(key) else None
            known[key] = None
            if found is not None:
                known[key] = [
                    sum(cost(j, row[j], level) for row in chosen) for j, level in enumerate(found)
                ]
        return known[key]

    best = None
    for parts in partitions([-1, *range(len(rows))]):
        suppressed = next(len(part) - 1 for part in parts if -1 in part)
        groups = [losses(part) for part in parts if -1 not in part]
        if suppressed > suppression or not groups or any(each is None for each in groups):
            continue
        if not judge_all([len(part) for part in parts if -1 not in part]):
            continue
        sums = [sum(each) for each in zip(*(each for each in groups if each), strict=True)]
        loss = join([(each + suppressed) / len(rows) for each in sums])
        best = loss if best is None else min(best, loss)
    return best
