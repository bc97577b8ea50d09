"""A proof of a bound for local recodings: JSON lines, first what is claimed, then all prices.

Every distinct tuple has a line with its price, in the order of its codes. So the file holds names
of columns, counts and prices, and no value of any record.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from shoal.errors import BadData

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.proof.format import Subject
    from shoal.values import Ints

VERSION = 1
"""Of the format; a file of another version is refused."""

FORMAT = "shoal prices"
"""The key of the version; it marks a file as a proof by prices."""

UNIT = 2**30
"""Prices are whole numbers; so many are what a record costs that keeps nothing."""


@dataclass(frozen=True, eq=False)
class PriceClaim:
    """No local recoding loses less than `bound`; one that loses `loss` was found.

    `shares` say how much each attribute counts in the price of a record, and `factor` times the
    mean price is the bound, or its logarithm for the geometric join. `prices` has one number for
    each tuple, by rising codes, the first attribute first.
    """

    loss: float
    bound: float
    shares: tuple[float, ...]
    factor: float
    prices: Ints


@dataclass(frozen=True)
class PriceProof:
    """A proof by prices as it was read: what it says it is about, and its claim."""

    subject: Mapping[str, Any]
    claim: PriceClaim


def price_lines(subject: Subject, claim: PriceClaim) -> Iterator[str]:
    """The lines of a proof by prices."""
    about = asdict(subject)
    if subject.population_sha256 is None:
        del about["population_sha256"]
    stated = {
        "loss": claim.loss,
        "bound": claim.bound,
        "shares": claim.shares,
        "factor": claim.factor,
    }
    header = {FORMAT: VERSION, "status": "bound", **about, "claim": stated}
    yield json.dumps(header, ensure_ascii=False) + "\n"
    for price in claim.prices.tolist():
        yield f"{price}\n"


def is_price_file(header: Mapping[str, Any]) -> bool:
    """Whether a file with this first line is a proof by prices."""
    return FORMAT in header


def parse_prices(path: Path, header: Mapping[str, Any], lines: TextIO) -> PriceProof:
    """The proof in an open file whose first line was read; anything else is BadData."""
    if header[FORMAT] != VERSION:
        raise _wrong(path, f"is of another version than {VERSION}")
    stated = header.get("claim")
    if not isinstance(stated, dict):
        raise _wrong(path, "states no bound")
    numbers: list[Any] = [stated.get(key) for key in ("loss", "bound", "factor")]
    shares = stated.get("shares")
    if not isinstance(shares, list) or not all(map(_is_number, [*numbers, *shares])):
        raise _wrong(path, "states no loss, bound, factor and shares")
    loss, bound, factor = (float(each) for each in numbers)
    prices = np.array([_price(path, n, text) for n, text in enumerate(lines, 2)], np.int64)
    return PriceProof(header, PriceClaim(loss, bound, tuple(shares), factor, prices))


def _price(path: Path, line: int, text: str) -> int:
    stripped = text.strip()
    if not stripped.isascii() or not stripped.isdigit() or len(stripped) > 10:
        raise _wrong(path, f"has no price at line {line}")
    return int(stripped)


def _is_number(value: object) -> bool:
    """Whether it is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= sys.float_info.max


def _wrong(path: Path, why: str) -> BadData:
    return BadData(
        f"{path} {why}",
        code="bad-proof",
        hint="give the file that `shoal run --proof` wrote, whole",
    )
