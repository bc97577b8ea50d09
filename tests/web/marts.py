"""A mart for the tests of the web application: the clinic of tests/mart, in a folder of its own."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from mart.clinic import many

REQUEST = {"purpose": "survival of staged tumours", "project": ["PT", "age"], "select": ["PT = 1"]}
"""A request that the clinic answers."""


def write_mart(folder: Path, number: int = 60, **policy: object) -> Path:
    """Write the sources of a clinic and its catalog; the path of the catalog."""
    folder.mkdir(parents=True, exist_ok=True)
    clinic = many(folder, number)
    clinic.keys["policy"] = {"k": 3, "suppression": "20%", **policy}
    clinic.write()
    catalog = folder / "catalog.json"
    catalog.write_text(json.dumps(clinic.catalog), encoding="utf-8")
    return catalog


def wait_for(state: Callable[[], str], *wanted: str, seconds: float = 60) -> str:
    """Wait until a state is one of those wanted."""
    end = time.monotonic() + seconds
    while (found := state()) not in wanted:
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found
