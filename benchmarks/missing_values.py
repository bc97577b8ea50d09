"""Does extended match lose less than basic match on a table with missing values?

Adult with its missing values (48,842 records, seven quasi-identifiers, 2,160 nodes) from the folder
SHOAL_DATA, each demand under both matches. Basic match removes the records with a missing
quasi-identifier first, beyond the suppression limit; its own loss speaks of the records that
remain. To compare what is left of the same table, `lost` counts every record that is not released
as lost entirely, whatever it was left out for.

The demand is the same when the same number of records may be left out: as many as basic match may
remove and suppress together (the last column). There extended match never loses more, at any node:
a class of complete records is as large under extended match as under basic match, or larger where
missing values join it at the top, so what basic match keeps extended match keeps. With the same
share (the column before) extended match may leave out fewer records than basic match does, and
where that makes it generalize more it can lose more.

    python benchmarks/missing_values.py
    python benchmarks/missing_values.py --output benchmarks/results/missing_values.txt
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
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


def release(folder: Path, match: str, k: int, suppression: str | int) -> shoal.Result:
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


def lines(folder: Path) -> Iterator[str]:
    """A line for each demand."""
    yield "  k  suppression     basic  removed       lost: basic  extended  same records left out"
    for k in (2, 5, 10):
        for suppression in ("0%", "1%", "10%"):
            basic = release(folder, "basic", k, suppression)
            extended = release(folder, "extended", k, suppression)
            left_out = basic.removed + basic.suppression_limit
            fair = release(folder, "extended", k, left_out)
            yield (
                f"{k:3d}  {suppression:>11}  {basic.loss:.6f}  {basic.removed:7,}"
                f"          {lost(basic):.6f}  {lost(extended):.6f}               {lost(fair):.6f}"
            )


def main() -> None:
    """Print the lines, and write them where that is asked for."""
    parser = argparse.ArgumentParser(description="Extended against basic match on Adult.")
    parser.add_argument("--output", type=Path, help="write the lines here too")
    output = parser.parse_args().output
    written = []
    with tempfile.TemporaryDirectory() as folder:
        for line in lines(Path(folder)):
            print(line, flush=True)
            written.append(f"{line}\n")
    if output is not None:
        output.write_text("".join(written), encoding="utf-8")


if __name__ == "__main__":
    main()
