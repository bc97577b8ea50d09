"""Does extended match lose less than basic match on a table with missing values?

Adult with its missing values (48,842 records, seven quasi-identifiers, 2,160 nodes) from the folder
SHOAL_DATA, each demand under both matches. Basic match removes the records with a missing
quasi-identifier first; its own loss speaks of the records that remain, so the last columns count
the removed ones as lost, to compare what is left of the same table.

    python benchmarks/missing_values.py
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import shoal

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[2] / "shared" / "data"))
QUASI_IDENTIFIERS = (
    "age",
    "sex",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
)


def release(folder: Path, match: str, k: int, suppression: str) -> shoal.Result:
    """Release Adult under one match."""
    attributes: dict[str, Any] = {
        name: {
            "role": "quasi-identifier",
            "hierarchy": str(DATA / "adult" / "hierarchies" / f"{name}.csv"),
        }
        for name in QUASI_IDENTIFIERS
    }
    return shoal.run(
        {
            "source": str(DATA / "adult-uci" / "data.csv"),
            "output": str(folder / "release.csv"),
            "k": k,
            "suppression": suppression,
            "missing": {"match": match, "values": ["?"]},
            "others": "drop",
            "attributes": attributes,
        }
    )


def lost(result: shoal.Result) -> float:
    """The loss over all records, the removed ones lost entirely."""
    remain = result.records - result.removed
    return (result.loss * remain + result.removed) / result.records


def main() -> None:
    """Print a line for each demand."""
    print("  k  suppression   extended      basic   removed   of all: extended      basic")
    with tempfile.TemporaryDirectory() as folder:
        for k in (2, 5, 10):
            for suppression in ("0%", "1%", "10%"):
                extended = release(Path(folder), "extended", k, suppression)
                basic = release(Path(folder), "basic", k, suppression)
                print(
                    f"{k:3d}  {suppression:>11}   {extended.loss:.6f}   {basic.loss:.6f}"
                    f"   {basic.removed:7,}           {lost(extended):.6f}   {lost(basic):.6f}"
                )


if __name__ == "__main__":
    main()
