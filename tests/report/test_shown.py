"""What Python's prompt shows of the values that people look at."""

from __future__ import annotations

from pathlib import Path

import pytest

import shoal
from shoal.demo.files import write_demo


@pytest.fixture(scope="module")
def definition(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demonstration with its release."""
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder, 400)
    shoal.run(folder / "patients.yaml")
    return folder / "patients.yaml"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["run", "risk", "solutions", "lattice", "utility", "explain", "what_if"]
)
def test_the_prompt_shows_tables_and_not_fields(name: str, definition: Path) -> None:
    shown = repr(getattr(shoal, name)(definition))
    assert shown.count("\n") > 5
    assert "=(" not in shown
    assert "occupation" in shown


@pytest.mark.slow
def test_the_prompt_shows_a_frontier_as_a_table(definition: Path) -> None:
    found = shoal.frontier(definition, "2,5", "5%")
    assert repr(found) == str(found)
    assert "Loss by k" in repr(found)


@pytest.mark.slow
def test_the_prompt_shows_no_drawing(definition: Path) -> None:
    assert "<svg" not in repr(shoal.lattice(definition).plot())
