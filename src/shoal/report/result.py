"""The result as JSON: the contract that scripts rely on."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

from shoal.report.write import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.values import Result


def to_dict(result: Result) -> dict[str, Any]:
    """The fields of a result as plain values; infinity becomes None."""
    plain: dict[str, Any] = finite(dataclasses.asdict(result))
    return plain


def to_json(result: Result) -> str:
    """The result as JSON text."""
    return json.dumps(to_dict(result), indent=2, ensure_ascii=False) + "\n"


def write_result(result: Result, path: Path) -> None:
    """Write the JSON in one step."""
    write_whole(to_json(result), path)


def finite(value: Any) -> Any:
    """A plain value with None in place of what JSON cannot hold: infinity, and no number."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
