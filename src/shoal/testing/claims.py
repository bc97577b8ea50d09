"""What the suites share: checks with a message, and a timer for how work grows."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any

TOLERANCE = 1e-9
"""Floats that differ by no more than this count as equal."""

GROWTH = 30
"""Ten times the input may take at most this many times as long; quadratic work takes 100 times."""

SHORTEST = 0.001
"""Seconds. Quadratic work on ten thousand classes takes longer."""


def claim(holds: bool, sentence: str) -> None:
    """Raise an AssertionError with this sentence unless the claim holds."""
    if not holds:
        raise AssertionError(sentence)


def near(one: float, other: float) -> bool:
    """Whether two numbers are equal up to rounding errors; infinity equals itself."""
    return one == other or math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def parameters(plug_in: Any) -> dict[str, Any]:
    """The parameters of a plug-in; it must be a frozen value, equal to a copy made from them."""
    kind = type(plug_in)
    frozen = dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    claim(frozen, f"{kind.__name__} is not a frozen dataclass")
    fields = {field.name: getattr(plug_in, field.name) for field in dataclasses.fields(plug_in)}
    copy = kind(**fields)
    claim(
        copy == plug_in and hash(copy) == hash(plug_in),
        f"{plug_in} is not equal to a copy made from its own fields",
    )
    return fields


def growth(small: Callable[[], object], large: Callable[[], object]) -> float:
    """How many times longer the large job takes than the small one, in their fastest runs.

    Only the processor time of this thread counts, and the small job counts as a millisecond at
    least: below that, caches decide. A ratio that is too large is measured again, up to twenty
    times.
    """
    least, most = math.inf, math.inf
    for _ in range(20):
        least = max(min(least, _seconds(small)), SHORTEST)
        most = min(most, _seconds(large))
        if most < GROWTH * least:
            break
    return most / least


def _seconds(job: Callable[[], object]) -> float:
    start = time.thread_time()
    job()
    return time.thread_time() - start
