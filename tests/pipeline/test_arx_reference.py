"""The optimum on real tables equals what ARX reports.

The tables are not part of the repository. Where they are not at hand there is nothing to compare:
then no test is collected, and `scripts/test` says so.
"""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest

import shoal

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
REFERENCE = DATA / "arx_reference.csv"

DEMANDS: dict[str, dict[str, Any]] = {
    "distinct 5-diversity": {"diversity": {"distinct": 5}},
    "entropy 3-diversity": {"diversity": {"entropy": 3}},
    "recursive (4-3)-diversity": {"diversity": {"recursive": {"c": 4, "l": 3}}},
    "t-closeness 0.2 equal": {"closeness": {"t": 0.2}},
}


def reference() -> list[dict[str, str]]:
    """The rows of ARX for Adult."""
    with REFERENCE.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["dataset"] == "adult"]


def definition(row: dict[str, str], output: Path) -> dict[str, Any]:
    """What ARX was asked for."""
    table = DATA / "adult" / "data.csv"
    columns = table.open(encoding="utf-8").readline().strip().split(";")
    chosen = [name for name in columns if name != row["sensitive"]]
    attributes: dict[str, Any] = {
        name: {
            "role": "quasi-identifier",
            "hierarchy": str(DATA / "adult" / "hierarchies" / f"{name}.csv"),
        }
        for name in chosen[: int(row["quasi_identifiers"])]
    }
    if row["sensitive"]:
        demand = DEMANDS[row["privacy"].partition(" + ")[2]]
        attributes[row["sensitive"]] = {"role": "sensitive", **demand}
    return {
        "source": str(table),
        "output": str(output),
        "k": 5,
        "suppression": "5%",
        "loss": {"name": "iyengar", "aggregate": row["aggregate"]},
        "others": "drop",
        "attributes": attributes,
    }


if REFERENCE.exists():

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "row", reference(), ids=lambda row: f"{row['quasi_identifiers']} {row['privacy'][20:]}"
    )
    def test_the_optimum_is_that_of_arx(row: dict[str, str], tmp_path: Path) -> None:
        result = shoal.run(definition(row, tmp_path / "release.csv"))
        assert result.status == "optimal"
        assert result.loss == pytest.approx(float(row["loss"]), abs=1e-9)
        assert list(result.levels.values()) == json.loads(row["levels"])
        assert result.suppressed == int(row["suppressed"])
        assert result.lattice == int(row["lattice"])
        assert result.verified
