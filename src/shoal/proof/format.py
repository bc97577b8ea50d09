"""A proof file: JSON lines, first what is claimed, then every closed box with its reason.

It holds names of columns, levels and counts, and no value of any record.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, TypeGuard

from shoal.definition.demands import models_of
from shoal.errors import BadData
from shoal.proof.price_file import PriceProof, is_price_file, parse_prices

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.definition.model import Definition
    from shoal.values import Best, Closed, Node

VERSION = 1
"""Of the format; a file of another version is refused."""

FORMAT = "shoal proof"
"""The key of the version; it marks a file as a proof."""


@dataclass(frozen=True)
class LevelRange:
    """The levels of a quasi-identifier, 0 to `height`; `lowest` to `limit` are allowed."""

    name: str
    height: int
    limit: int
    priority: float
    lowest: int = 0


@dataclass(frozen=True)
class Subject:
    """What a proof is about; the levels that its attributes may have are the lattice."""

    attributes: tuple[LevelRange, ...]
    records: int
    removed: int
    suppression_limit: int
    privacy: tuple[str, ...]
    person: tuple[str, ...]
    loss: str
    aggregate: str
    missing: str
    input_sha256: str | None
    population_sha256: str | None = None


@dataclass(frozen=True)
class Claim:
    """The node that is claimed to be the best, its loss and its suppressed records."""

    levels: Node
    loss: float
    suppressed: int


@dataclass(frozen=True)
class ProofBox:
    """A closed box in a proof file: its reason, its lowest and highest node, and its line."""

    why: str
    lo: Node
    hi: Node
    line: int


@dataclass(frozen=True)
class Proof:
    """A proof as it was read: what it says it is about, its claim, its boxes.

    The only thing checked so far is that every node has a level for each attribute.
    """

    subject: Mapping[str, Any]
    claim: Claim
    boxes: tuple[ProofBox, ...]


def subject_of(
    definition: Definition,
    attributes: Sequence[LevelRange],
    records: int,
    removed: int,
    input_sha256: str | None,
    population_sha256: str | None = None,
) -> Subject:
    """What a proof is about, for a definition and what its source holds."""
    return Subject(
        tuple(attributes),
        records,
        removed,
        definition.suppression_limit(records),
        tuple(
            f"{model.name}: {model.demanded()}"
            if model.attribute is None
            else f"{model.name} of {model.attribute}: {model.demanded()}"
            for model in models_of(definition)
        ),
        definition.person,
        definition.loss.name,
        definition.loss.aggregate,
        definition.missing.match,
        input_sha256,
        population_sha256,
    )


def header_line(subject: Subject, best: Best) -> str:
    """The first line of a proof: what it is about, and that no node is better than this one."""
    claim = asdict(Claim(best.node, best.loss, best.suppressed))
    about = asdict(subject)
    if subject.population_sha256 is None:
        del about["population_sha256"]
    header = {FORMAT: VERSION, "status": "optimal", **about, "best": claim}
    return json.dumps(header, ensure_ascii=False) + "\n"


def box_line(closed: Closed) -> str:
    """The line of a closed box."""
    return json.dumps({"why": closed.why, "lo": closed.lo, "hi": closed.hi}) + "\n"


def read_proof(path: Path) -> Proof | PriceProof:
    """The proof in a file, by boxes or by prices; anything that is no proof is BadData."""
    try:
        with _opened(path) as file:
            return _parsed(path, file)
    except (OSError, EOFError) as error:
        _refuse(path, f"cannot be read ({getattr(error, 'strerror', None) or error})")
    except UnicodeDecodeError:
        _refuse(path, "is not UTF-8")


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")


def _parsed(path: Path, file: TextIO) -> Proof | PriceProof:
    objects = _objects(path, file)
    _, header = next(objects, (1, {}))
    if is_price_file(header):
        return parse_prices(path, header, file)
    if FORMAT not in header:
        _refuse(path, "does not begin like a proof")
    if header[FORMAT] != VERSION:
        _refuse(path, f"is of another version than {VERSION}")
    attributes = header.get("attributes")
    if not isinstance(attributes, list):
        _refuse(path, "names no attributes")
    width = len(attributes)
    claim = _claim(path, header.get("best"), width)
    return Proof(header, claim, tuple(_box(path, line, each, width) for line, each in objects))


def _objects(path: Path, file: TextIO) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON object of each line, with the number of the line."""
    for line, text in enumerate(file, 1):
        try:
            found = json.loads(text)
        except ValueError:
            _refuse(path, f"is not JSON at line {line}")
        if not isinstance(found, dict):
            _refuse(path, f"has no object at line {line}")
        yield line, found


def _claim(path: Path, best: object, width: int) -> Claim:
    if not isinstance(best, dict):
        _refuse(path, "states no best node")
    levels, loss, suppressed = (best.get(key) for key in ("levels", "loss", "suppressed"))
    if not _is_node(levels, width) or not _is_number(loss) or not isinstance(suppressed, int):
        _refuse(path, "states no levels, loss and suppressed records of the best node")
    return Claim(tuple(levels), float(loss), suppressed)


def _box(path: Path, line: int, stated: Mapping[str, Any], width: int) -> ProofBox:
    why, lo, hi = (stated.get(key) for key in ("why", "lo", "hi"))
    if not isinstance(why, str) or not _is_node(lo, width) or not _is_node(hi, width):
        _refuse(path, f"has no box of {width} attributes at line {line}")
    return ProofBox(why, tuple(lo), tuple(hi), line)


def _is_node(levels: object, width: int) -> TypeGuard[list[int]]:
    return (
        isinstance(levels, list)
        and len(levels) == width
        and all(type(level) is int and abs(level) < 2**31 for level in levels)
    )


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _refuse(path: Path, why: str) -> NoReturn:
    raise BadData(
        f"{path} {why}",
        code="bad-proof",
        hint="give the file that `shoal run --proof` wrote, whole",
    )
