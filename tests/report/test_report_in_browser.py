"""Reports as people see them: in Chromium, at three widths, light and dark, and as PDF.

The pictures stay in the folder that `SHOAL_PICTURES` names, else in pytest's temporary folder.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from playwright.sync_api import Browser

import shoal
from report import browser as browsing
from shoal.definition.read import from_mapping, read
from shoal.demo.files import write_demo
from shoal.report.comparison import write_comparison
from shoal.report.run import write_report
from shoal.values import Comparison, Trial

pytestmark = pytest.mark.slow

LONG = "the_number_of_the_street_in_which_the_patient_lived_when_admitted_for_the_first_time"
NAMES = [*(f"column {i}" for i in range(11)), LONG, "Straße & <b>Hausnummer</b>", "住所の郵便番号"]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    given = os.environ.get("SHOAL_PICTURES")
    folder = Path(given) if given else tmp_path_factory.mktemp("pictures")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def judged(browser: Browser, html: Path, pictures: Path) -> None:
    assert html.stat().st_size < 1_000_000
    assert browsing.faults_of(browser, html, pictures) == []
    assert (pictures / f"{html.stem}.pdf").read_bytes().startswith(b"%PDF")


def test_the_report_of_the_demonstration(browser: Browser, tmp_path: Path, pictures: Path) -> None:
    definition = read(write_demo(tmp_path, 2_000, 1))
    html = tmp_path / "demo.html"
    write_report(shoal.run(definition), definition, html, command="shoal run patients.yaml")
    judged(browser, html, pictures)


def test_the_report_of_a_local_recoding(browser: Browser, tmp_path: Path, pictures: Path) -> None:
    definition = read(write_demo(tmp_path, 2_000, 1)).model_copy(update={"recoding": "local"})
    result = shoal.run(definition)
    assert max(len(each) for each in result.levels.values()) > 2
    html = tmp_path / "local.html"
    write_report(result, definition, html, command="shoal run patients.yaml --recoding local")
    judged(browser, html, pictures)


def many_columns() -> tuple[pa.Table, dict[str, Any]]:
    """Fourteen quasi-identifiers with long names and long labels, and kept columns that warn."""
    draw = random.Random(5)
    kinds = [[f"{draw.randrange(4)}{'word' * (j % 5)}-{j}" for j in range(14)] for _ in range(12)]
    rows = [list(draw.choice(kinds)) for _ in range(600)]
    for row in rows[::40]:
        row[draw.randrange(14)] = None  # type: ignore[call-overload]
    columns: dict[str, Any] = dict(zip(NAMES, zip(*rows, strict=True), strict=True))
    columns["a note that nobody else has"] = [f"note {i}" for i in range(600)]
    attributes: dict[str, Any] = {
        name: {"role": "quasi-identifier", "hierarchy": {"mask": [3, 7, 12]}} for name in NAMES
    }
    return pa.table(columns), attributes | {"a note that nobody else has": "keep"}


def test_a_report_with_many_columns_long_names_and_warnings(
    browser: Browser, tmp_path: Path, pictures: Path
) -> None:
    table, attributes = many_columns()
    _, result = shoal.anonymize(
        table,
        {name: {"hierarchy": {"mask": [3, 7, 12]}} for name in NAMES},
        k=5,
        suppression=0.1,
        attributes={"a note that nobody else has": "keep"},
        search={"strategy": "datafly"},
        with_result=True,
    )
    assert result.warnings
    definition = from_mapping({"source": f"{LONG}.csv", "k": 5, "attributes": attributes})
    html = tmp_path / "many.html"
    write_report(result, definition, html, command=f"shoal run {LONG}.yaml --k 5")
    judged(browser, html, pictures)


def test_the_report_of_a_failure(browser: Browser, tmp_path: Path, pictures: Path) -> None:
    attributes = {
        name: {"role": "quasi-identifier", "hierarchy": "suppress", "limit": 0}
        for name in ("zip", LONG)
    }
    table = pa.table({name: [str(i) for i in range(9)] for name in attributes})
    with pytest.raises(shoal.Infeasible) as caught:
        shoal.anonymize(
            table,
            {name: {"hierarchy": "suppress", "limit": 0} for name in attributes},
            k=2,
            suppression=0,
        )
    assert caught.value.result is not None
    definition = from_mapping({"source": "patients.csv", "k": 2, "attributes": attributes})
    html = tmp_path / "failure.html"
    write_report(caught.value.result, definition, html, command="shoal run patients.yaml")
    judged(browser, html, pictures)


def test_the_report_of_a_comparison(browser: Browser, tmp_path: Path, pictures: Path) -> None:
    names = ("box", "flash", "ola", "datafly", "a strategy of a plug-in with a long name")
    trials = tuple(
        Trial(name, 0.2 + i / 9, i == 0, 0.2, 0.1 * i, {}, 5, 90, 7, 3.5, 2**24, "", curve)
        for i, name in enumerate(names)
        for curve in [((0.01 * (i + 1), 0.9), (0.3, 0.5 + i / 9), (2.0, 0.2 + i / 9))]
    )
    html = tmp_path / "comparison.html"
    write_comparison(Comparison("patients.csv", 9_000, 900, 1_200, "iyengar", 60, trials), html)
    judged(browser, html, pictures)
