"""The whole journey with a German hospital's workbook, and the same release by the command line."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from commands import shoal
from german_file import HEADER_ROW, NAMES, write_workbook
from shoal.definition.model import Files
from shoal.definition.read import read
from web.journey import assert_equals_the_command_line, go_on, new_project, release, search

pytestmark = pytest.mark.slow
expect.set_options(timeout=120_000)


def test_a_german_workbook_becomes_the_release_that_the_command_line_makes(
    page: Page, tmp_path: Path
) -> None:
    data = write_workbook(tmp_path / "patienten.xlsx", 300)
    new_project(page, "Klinikum Süd", data)
    for guessed in ("Daten", f"row {HEADER_ROW}", "comma 1.234,5"):
        expect(page.get_by_text(guessed, exact=True).first).to_be_visible()
    go_on(page, "Next: Columns", "columns")
    for name in NAMES:
        expect(page.get_by_text(name, exact=True).first).to_be_visible()
    go_on(page, "Next: Hierarchies", "hierarchies")
    go_on(page, "Next: Demand", "demand")
    search(page)
    release(page)
    own = tmp_path / "own"
    assert_equals_the_command_line(page, own, data)

    definition = read(own / "patienten.yaml")
    assert isinstance(definition.source, Files)
    assert (definition.source.header, definition.source.decimal) == (HEADER_ROW, ",")
    assert definition.source.settings == {"sheet": "Daten"}
    written = own / "patienten-release.csv"
    names, *rows = csv.reader(written.read_text(encoding="utf-8").splitlines())
    quasi = [names.index(name) for name in definition.quasi_identifiers]
    assert min(Counter(tuple(row[i] for i in quasi) for row in rows).values()) >= 5
    verified = shoal("verify", written, "-d", own / "patienten.yaml", folder=own)
    assert verified.returncode == 0, verified.stdout
