"""What the suites share: a claim with its sentence, and a clock for how work grows."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any

SLACK = 1e-9
"""Floats that differ by no more than this count as equal."""

GROWTH = 30
"""Ten times the work may take so many times as long; what is quadratic takes a hundred times."""


def claim(holds: bool, sentence: str) -> None:
    """An AssertionError with this sentence unless the claim holds."""
    if not holds:
        raise AssertionError(sentence)


def near(one: float, other: float) -> bool:
    """Whether two numbers are equal but for the dust of float arithmetic; infinity is itself."""
    return one == other or math.isclose(one, other, rel_tol=SLACK, abs_tol=SLACK)


def parameters(part: Any) -> dict[str, Any]:
    """The parameters of a part; it must be a frozen value, equal to a copy made from them."""
    kind = type(part)
    frozen = dataclasses.is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    claim(frozen, f"{kind.__name__} is not a frozen dataclass")
    fields = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
    copy = kind(**fields)
    claim(
        copy == part and hash(copy) == hash(part),
        f"{part} is not equal to a copy made from its own fields",
    )
    return fields


def growth(small: Callable[[], object], large: Callable[[], object]) -> float:
    """How many times longer the large job takes than the small one, in their fastest runs.

    Computers hiccup: a ratio that looks too large is measured again, some times.
    """
    least, most = math.inf, math.inf
    for _ in range(6):
        least = min(least, _seconds(small))
        most = min(most, _seconds(large))
        if most < GROWTH * least:
            break
    return most / max(least, 1e-6)


def _seconds(job: Callable[[], object]) -> float:
    begun = time.process_time()
    job()
    return time.process_time() - begun
