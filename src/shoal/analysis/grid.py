"""The grid of a frontier: lists of k and of suppression limits, as people write them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from shoal.errors import BadDefinition, Mistake

MOST_POINTS = 2000
"""A grid of more points is taken for a mistake."""


def read_k(text: str | int | Sequence[int], file: str) -> tuple[int, ...]:
    """The k of a grid by size: `2,5,10`, a range `2:50`, one with a step `2:50:4`, or numbers."""
    if isinstance(text, int):
        text = [text]
    if not isinstance(text, str):
        found = list(text)
    else:
        found = [k for part in text.split(",") for k in _range(part.strip(), file)]
    for k in found:
        if isinstance(k, bool) or not isinstance(k, int):
            raise _mistake(file, "k", f"{k!r} is no whole number", "give numbers such as 2,5,10")
        if k < 2:
            raise _mistake(file, "k", f"{k} protects nobody", "give numbers from 2 on")
    if not found:
        raise _mistake(file, "k", "no number is given", "give numbers such as 2,5,10 or 2:50")
    return tuple(sorted(set(found)))


def _range(text: str, file: str) -> Iterator[int]:
    """The numbers of one part of a list: a number, or a range with both ends."""
    parts = text.split(":")
    if len(parts) > 3 or not re.fullmatch(r"[0-9: ]+", text) or not all(parts):
        remedy = "give numbers such as 2,5,10 or a range such as 2:50"
        raise _mistake(file, "k", f"{text!r} is no number and no range", remedy)
    first, last = int(parts[0]), int(parts[min(len(parts) - 1, 1)])
    step = int(parts[2]) if len(parts) == 3 else 1
    if last < first:
        what = f"the range {text!r} ends before it begins"
        raise _mistake(file, "k", what, f"write {last}:{first}")
    if step < 1:
        raise _mistake(file, "k", f"the range {text!r} has no step", "give a step from 1 on")
    if (last - first) // step >= MOST_POINTS:
        remedy = f"give at most {MOST_POINTS:,} numbers, such as 2:50"
        raise _mistake(file, "k", f"the range {text!r} has too many numbers", remedy)
    yield from range(first, last + 1, step)


def read_suppression(given: str | float | Sequence[float | str], file: str) -> tuple[float, ...]:
    """The shares of a grid by size.

    Where a `%` stands anywhere in a text, all its numbers are percent: `0,1,5,10%`. Elsewhere they
    are shares: `0,0.01,0.05`. What could be meant in two ways is refused: a whole number from 1 on
    without any `%`, and a number below 1 without one beside numbers that have it.
    """
    if isinstance(given, str):
        parts: list[float | str] = [part.strip() for part in given.split(",")]
    else:
        parts = list(given) if isinstance(given, Sequence) else [given]
    percent = isinstance(given, str) and "%" in given
    found = [_share(part, file, percent=percent) for part in parts]
    if not found:
        raise _mistake(file, "suppression", "no share is given", "give shares such as 0,1,5,10%")
    return tuple(sorted(set(found)))


def _share(part: float | str, file: str, *, percent: bool) -> float:
    """One share; `percent` says that its list is in percent."""
    text = str(part).strip()
    marked, number = text.endswith("%"), text.removesuffix("%").strip()
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < 0 or isinstance(part, bool):
        remedy = "give shares such as 0,1,5,10% or 0,0.01,0.05"
        raise _mistake(file, "suppression", f"{text!r} is no share", remedy)
    if not marked and percent and 0 < value < 1:
        what = f"{text} beside percents could mean {text} % or {value:.6g} of all records"
        raise _mistake(file, "suppression", what, f"write {text}% or {value * 100:.6g}%")
    if not marked and not percent and value >= 1:
        what = f"{text} without % could mean percent, a share or a number of records"
        raise _mistake(file, "suppression", what, f"write {text}%, or a share below 1")
    share = value / 100 if marked or percent else value
    if share > 1:
        remedy = "give shares up to 100%"
        raise _mistake(file, "suppression", f"{text!r} is more than all records", remedy)
    return round(share, 12)


def check_size(ks: Sequence[int], shares: Sequence[float], file: str) -> None:
    """Refuse a grid that nobody would wait for."""
    points = len(ks) * len(shares)
    if points > MOST_POINTS:
        what = f"the grid has {points:,} points"
        raise _mistake(file, "k", what, f"give at most {MOST_POINTS:,}, such as 2:50:4")


def _mistake(file: str, key: str, what: str, remedy: str) -> BadDefinition:
    return BadDefinition(file, [Mistake(key, what, remedy)])
