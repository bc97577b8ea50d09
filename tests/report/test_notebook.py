"""The example notebook, executed by a real kernel, shows cards, progress and plots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook" / "release.ipynb"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """The outputs of each cell, by the code of the cell."""
    import nbformat
    from nbconvert.preprocessors import ExecutePreprocessor

    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    where = {"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}}
    kernel = ExecutePreprocessor(timeout=120, kernel_name="python3")  # type: ignore[no-untyped-call]
    kernel.preprocess(notebook, where)
    return {cell.source: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}


def of(outputs: dict[str, list[Any]], code: str, kind: str) -> str:
    """What the cell that ends with this code shows, as this kind of data."""
    (found,) = [shown for source, shown in outputs.items() if source.endswith(code)]
    return "".join(each.data[kind] for each in found if kind in each.get("data", {}))


@pytest.mark.slow
def test_the_notebook_shows_cards_progress_and_plots(outputs: dict[str, list[Any]]) -> None:
    (run,) = [shown for source, shown in outputs.items() if source.startswith("result =")]
    progress = "".join(each.text for each in run if each.output_type == "stream")
    assert "patients.csv\nSearching 2,000 tuples, 600 nodes\n" in progress
    assert "  best 0." in progress
    assert "Released: " in progress
    assert "Safe: verified" in of(outputs, "\nresult", "text/html")
    assert "Safe: verified" in of(outputs, "of_frame", "text/html")
    assert "Highest risk" in of(outputs, "\nrisk", "text/html").replace("highest", "Highest")
    for plot in ("result.plot()", "risk.plot()"):
        assert of(outputs, plot, "image/svg+xml").startswith("<svg")
    assert "occupation" in of(outputs, "result.to_pandas()", "text/html")


def test_the_notebook_is_kept_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]
