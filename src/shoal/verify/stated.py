"""What the result of a run states about its release, read from the JSON that the run wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

from shoal.errors import BadData

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Stated:
    """Claims to be held against the release, and the hierarchies that the run proposed.

    `records` and `removed` speak of the source, `numbers` of the release.
    """

    levels: Mapping[str, int]
    records: int
    removed: int
    numbers: Mapping[str, int]
    hierarchies: Mapping[str, Any]
    input_sha256: str | None


def read_stated(path: Path) -> Stated:
    """The claims in a result file; anything that is no such file is BadData."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        _refuse(path, f"cannot be read ({error.strerror})")
    except ValueError:
        _refuse(path, "is not JSON")
    if not isinstance(found, dict):
        _refuse(path, "is not a result")
    levels, hierarchies = found.get("levels"), found.get("hierarchies", {})
    if not isinstance(levels, dict) or not all(map(_is_count, levels.values())):
        _refuse(path, "states no `levels`")
    if not isinstance(hierarchies, dict):
        _refuse(path, "has `hierarchies` that are no mapping")
    records, removed = found.get("records"), found.get("removed", 0)
    if not _is_count(records) or not _is_count(removed):
        _refuse(path, "states no number of `records` and `removed`")
    numbers = _numbers(path, found, records - removed)
    sha256 = found.get("input_sha256")
    return Stated(
        levels, records, removed, numbers, hierarchies, None if sha256 is None else str(sha256)
    )


def _numbers(path: Path, found: Mapping[str, Any], judged: int) -> dict[str, int]:
    """What the result says of the release; a result that is cut short says less."""
    keys = ("suppressed", "classes", "smallest_class", "persons", "smallest_class_persons")
    told = {key: found[key] for key in keys if found.get(key) is not None}
    if not all(map(_is_count, told.values())):
        _refuse(path, f"states no numbers as {', '.join(map(repr, told))}")
    numbers = {
        "records": judged - told["suppressed"] if "suppressed" in told else None,
        "classes": told.get("classes"),
        "smallest class": told.get("smallest_class"),
        "persons": told.get("persons"),
        "fewest persons": told.get("smallest_class_persons"),
    }
    return {name: number for name, number in numbers.items() if number is not None}


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _refuse(path: Path, why: str) -> NoReturn:
    raise BadData(
        f"{path} {why}",
        code="bad-result",
        hint="give the file that `shoal run --json` wrote, or leave out --result",
    )
