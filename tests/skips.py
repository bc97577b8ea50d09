"""Rules for all tests: where CI is set, a test that is skipped has failed."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TypeVar

import pytest

Report = TypeVar("Report", pytest.TestReport, pytest.CollectReport)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    return _without_skips((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    return _without_skips((yield))


def _without_skips(report: Report) -> Report:
    if report.skipped and os.environ.get("CI"):
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid} was skipped, which counts as a failure here"
    return report
