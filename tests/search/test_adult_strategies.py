"""The published optimum of Adult with nine attributes, by the strategies of the papers.

The table is not part of the repository; where it is not at hand, no test is collected.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import shoal

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
OPTIMUM = [0, 3, 0, 0, 2, 1, 1, 2, 0]


def adult(output: Path, strategy: str) -> dict[str, Any]:
    """5-anonymity with 5 % suppression and Iyengar's loss, as in the paper on pruning."""
    table = DATA / "adult" / "data.csv"
    columns = table.open(encoding="utf-8").readline().strip().split(";")
    hierarchies = DATA / "adult" / "hierarchies"
    return {
        "source": str(table),
        "output": str(output),
        "k": 5,
        "suppression": "5%",
        "search": {"strategy": strategy},
        "attributes": {
            name: {"role": "quasi-identifier", "hierarchy": str(hierarchies / f"{name}.csv")}
            for name in columns
        },
    }


if (DATA / "adult").exists():

    @pytest.mark.slow
    @pytest.mark.parametrize(("strategy", "most"), [("flash", 500), ("bfs", 2000), ("box", 100)])
    def test_the_published_optimum_is_found_and_proved(
        strategy: str, most: int, tmp_path: Path
    ) -> None:
        result = shoal.run(adult(tmp_path / "release.csv", strategy))
        assert result.status == "optimal"
        assert list(result.levels.values()) == OPTIMUM
        assert result.lattice == 12_960
        assert result.checked < most

    @pytest.mark.slow
    @pytest.mark.parametrize("strategy", ["best-first", "datafly", "igreedy", "priority-path"])
    def test_a_heuristic_is_quick_and_safe_and_no_better(strategy: str, tmp_path: Path) -> None:
        result = shoal.run(adult(tmp_path / "release.csv", strategy))
        assert result.status == "feasible"
        assert result.loss > 0.2696
        assert result.verified
