"""In a notebook a long run shows a line of progress below its cell; a short one shows none."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from shoal.calling import notebook
from shoal.calling.notebook import Line, NotebookProgress
from shoal.events import Phase, Working

BEGIN = """
import pandas as pd
import shoal, shoal.calling.notebook

people = pd.DataFrame({"zip": ["10115", "10117"] * 4})
masks = {"zip": {"mask": 5}}
"""
LONG = """
shoal.calling.notebook.PATIENCE = 0.01
safe, result = shoal.anonymize(people, masks, k=4, with_result=True)
result
"""
SHORT = """
shoal.calling.notebook.PATIENCE = 60
shoal.anonymize(people, masks, k=4)
None
"""
WATCHED = """
shoal.calling.notebook.PATIENCE, seen = 0.01, []
shoal.anonymize(people, masks, k=4, observe=seen.append)
print(len(seen) > 3)
"""
FAILED = """
many = pd.DataFrame({"zip": [str(10_000 + number) for number in range(50_000)]})
try:
    shoal.anonymize(many, masks, k=60_000)
except shoal.Infeasible:
    pass
"""


@pytest.fixture(scope="module")
def outputs() -> list[list[Any]]:
    """The outputs of each cell, run by a real kernel."""
    import nbformat
    from nbclient import NotebookClient

    make: Any = nbformat.v4
    cells = [make.new_code_cell(code) for code in (BEGIN, LONG, SHORT, WATCHED, FAILED)]
    written = make.new_notebook(cells=cells)
    NotebookClient(written, timeout=300, kernel_name="python3").execute()
    return [cell.outputs for cell in written.cells]


@pytest.mark.slow
def test_a_kernel_shows_the_progress_of_a_long_run_alone(outputs: list[list[Any]]) -> None:
    _, long, short, watched, failed = outputs
    line, card = (each.data for each in long)
    assert line["text/plain"].startswith("Done after ")
    assert "opacity" in line["text/html"]
    assert "verified from the returned frame itself, counted afresh" in card["text/html"]
    assert short == []
    assert [each.text for each in watched] == ["True\n"]
    assert [each.data["text/plain"].startswith("Stopped after ") for each in failed] == [True]


class Place:
    """Remembers what was shown below a cell, and says when there is enough."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.enough = threading.Event()

    def __call__(self, shown: object) -> Place:
        self.update(shown)
        return self

    def update(self, shown: object) -> None:
        self.shown.append(repr(shown))
        if len(self.shown) == 2:
            self.enough.set()


def test_the_line_says_what_is_done_and_for_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "PATIENCE", 0.01)
    place = Place()
    with NotebookProgress(place) as progress:
        progress.observe(Phase("read", "people.csv"))
        progress.observe(Working(0.25))
        assert place.enough.wait(60)
    assert place.shown[0] == "Reading people.csv: 25% (0 s)"
    assert place.shown[-1].startswith("Done after 0.")


def test_outside_of_a_notebook_nothing_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert not notebook.in_notebook()
    with NotebookProgress(Place()):
        time.sleep(0.01)
    assert capfd.readouterr() == ("", "")


def test_a_line_is_text_and_never_markup() -> None:
    assert "<b>" not in Line("Reading <b>")._repr_html_()
