"""The journey with 300,000 records: quick pages, and the release of the command line."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from web.journey import assert_equals_the_command_line, go_on, new_project, release, search

pytestmark = pytest.mark.slow
expect.set_options(timeout=120_000)

RECORDS = 300_000


def write_visits(path: Path) -> Path:
    """300,000 records of four columns that others may know and a diagnosis, the same every time."""
    dice = np.random.default_rng(5)
    columns = {
        "age": dice.integers(0, 100, RECORDS),
        "sex": dice.choice(["f", "m"], RECORDS),
        "zip": dice.choice(np.arange(80331, 80371), RECORDS),
        "admission year": dice.integers(2021, 2026, RECORDS),
        "diagnosis": dice.choice(["I10", "E11", "J45", "M54", "F32", "K29"], RECORDS),
    }
    cells = [column.astype(str) for column in columns.values()]
    lines = [",".join(row) for row in zip(*cells, strict=True)]
    path.write_text("\n".join([",".join(columns), *lines, ""]), encoding="utf-8")
    return path


def test_300_000_records_become_the_release_that_the_command_line_makes(
    page: Page, tmp_path: Path
) -> None:
    data = write_visits(tmp_path / "visits.csv")
    new_project(page, "Visits", data)
    expect(page.get_by_text("300,000").first).to_be_visible()
    began = time.monotonic()
    go_on(page, "Next: Columns", "columns")
    expect(page.get_by_role("heading", name="Columns", exact=True)).to_be_visible()
    assert time.monotonic() - began < 20
    go_on(page, "Next: Hierarchies", "hierarchies")
    go_on(page, "Next: Demand", "demand")
    search(page)
    release(page)
    assert_equals_the_command_line(page, tmp_path / "own", data)
    assert (tmp_path / "own" / "visits-release.csv").read_bytes().count(b"\n") > 0.9 * RECORDS
