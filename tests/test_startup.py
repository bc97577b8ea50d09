"""Starting is quick, because nothing heavy is imported before it is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("duckdb", "numba", "numpy", "pandas", "polars", "pyarrow", "pydantic", "rich", "yaml")

IMPORTED = f"; import sys; print([name for name in {HEAVY!r} if name in sys.modules])"

HELP = """
import sys
sys.argv = ["shoal", *{arguments!r}]
from shoal.cli.main import main
try:
    main()
except SystemExit as end:
    assert not end.code
"""


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert python("import shoal" + IMPORTED).strip() == "[]"


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    said = python(HELP.format(arguments=arguments) + IMPORTED.removeprefix("; "))
    assert said.splitlines()[-1] == "[]"


def test_the_installed_program_starts() -> None:
    program = Path(sys.executable).with_name("shoal")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("shoal ")


PEOPLE = (
    "age,job,illness,note",
    *(f"{20 + i},{'ab'[i % 2]},{'xyz'[i % 3]},{i % 5}" for i in range(40)),
)

DEFINITION = """
source: people.csv
output: release.csv
k: 4
attributes:
  age: {role: quasi-identifier, hierarchy: {intervals: [10, 20]}}
  job: {role: quasi-identifier, hierarchy: suppress}
  illness: {role: sensitive, diversity: {distinct: 2}}
  note: keep
"""


UNUSED = (
    *("numba", "pandas", "polars", "pyspark", "scipy", "sklearn", "sqlalchemy"),
    *("shoal.analysis", "shoal.applying", "shoal.cli.verify", "shoal.engines.database"),
    *("shoal.engines.spark", "shoal.mart", "shoal.proof", "shoal.search.explain"),
    *("shoal.search.strategies.ola", "shoal.web"),
)


def test_a_run_on_a_file_imports_neither_libraries_of_frames_nor_what_it_does_not_use(
    tmp_path: Path,
) -> None:
    (tmp_path / "people.csv").write_text("\n".join(PEOPLE))
    (tmp_path / "definition.yaml").write_text(DEFINITION)
    code = HELP.format(arguments=["run", str(tmp_path / "definition.yaml")])
    said = python(code + f"print([name for name in {UNUSED!r} if name in sys.modules])")
    assert said.splitlines()[-1] == "[]"
    assert (tmp_path / "release.csv").exists()


@pytest.mark.slow
def test_public_names_stay_functions_whatever_modules_are_imported() -> None:
    code = (
        "import shoal, shoal.anonymize, shoal.pipeline, shoal.verify.judge\n"
        "from shoal import verify\n"
        "for name in ('anonymize', 'check', 'run', 'verify'):\n"
        "    print(type(getattr(shoal, name)).__name__)\n"
        "print(verify is shoal.verify)\n"
    )
    assert python(code).split() == ["function"] * 4 + ["True"]


def test_every_public_name_is_there() -> None:
    import shoal

    assert sorted(shoal.__all__) == list(shoal.__all__) == dir(shoal)
    assert all(getattr(shoal, name) is not None for name in shoal.__all__)
    with pytest.raises(AttributeError):
        _ = shoal.nothing  # type: ignore[attr-defined]
