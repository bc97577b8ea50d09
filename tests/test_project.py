"""The project around the code: pins, the licence, scripts, and what nobody should commit."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest

from shoal.cli import doctor

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINS = [
    line
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


PINNED = {line.split("==")[0].lower().replace("_", "-") for line in PINS}


def name_in(requirement: str) -> str:
    """The name a requirement begins with, as package indexes compare it."""
    return re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower().replace("_", "-")


def test_every_pin_is_a_name_and_a_version_and_nothing_else() -> None:
    pin = re.compile(r"[A-Za-z0-9._-]+==[0-9][0-9A-Za-z.]*")
    assert [line for line in PINS if not pin.fullmatch(line)] == []
    assert sorted(PINS, key=str.lower) == PINS


@pytest.mark.parametrize("extra", ["", *PROJECT["optional-dependencies"]])
def test_every_dependency_of_every_extra_is_pinned(extra: str) -> None:
    wanted = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    assert {name_in(line) for line in wanted} - {"shoal"} <= PINNED


def test_what_comes_with_the_dependencies_is_pinned_too() -> None:
    waiting = [name_in(line) for line in PROJECT["dependencies"]]
    seen = set(waiting)
    while waiting:
        always = [line for line in requires(waiting.pop()) or [] if ";" not in line]
        new = {name_in(line) for line in always} - seen
        waiting += new
        seen |= new
    assert seen <= PINNED


def test_the_doctor_offers_only_extras_that_the_project_has() -> None:
    installs = [install for _, _, install in doctor.PYTHON]
    offered = {extra for install in installs for extra in re.findall(r"shoal\[(.*)]", install)}
    assert offered == set(PROJECT["optional-dependencies"]) - {"all", "dev", "spark-java"}


def test_every_package_of_an_extra_is_used_in_the_source() -> None:
    files = [path for path in (ROOT / "src").rglob("*.py") if path.name != "doctor.py"]
    source = "\n".join(path.read_text(encoding="utf-8") for path in files)
    extras = set(PROJECT["optional-dependencies"]) - {"all", "dev"}
    lines = [line for extra in extras for line in PROJECT["optional-dependencies"][extra]]
    assert [name for name in map(name_in, lines) if not re.search(rf"\b{name}\b", source)] == []


def test_the_licence_is_the_one_the_project_states() -> None:
    assert PROJECT["license"] == "Apache-2.0"
    assert "Apache License\n" in (ROOT / "LICENSE").read_text(encoding="utf-8")


@pytest.mark.parametrize("script", ["scripts/check", "scripts/prove", "scripts/test", ".ci/run"])
def test_scripts_can_be_run_and_parse(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)
    subprocess.run(["bash", "-n", ROOT / script], check=True)


@pytest.mark.slow
def test_a_skipped_test_fails_where_ci_is_set_and_only_there(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_bytes((ROOT / "tests" / "skips.py").read_bytes())
    (tmp_path / "test_skipped.py").write_text(
        "import pytest\n\n@pytest.mark.skip\ndef test_nothing() -> None: ...\n"
    )
    (tmp_path / "test_absent.py").write_text("import pytest\npytest.importorskip('no_such')\n")
    assert outcome(tmp_path / "test_skipped.py", CI="true") == 1
    assert outcome(tmp_path / "test_absent.py", CI="true") != 0
    assert outcome(tmp_path / "test_skipped.py", CI="") == 0


def outcome(test: Path, **environment: str) -> int:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", os.devnull, test],
        env={**os.environ, **environment},
        cwd=test.parent,
        capture_output=True,
        check=False,
    ).returncode


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "src" / "shoal" / "py.typed").exists()


LISTS = {"loss", "privacy", "search/strategies", "web/api", "web/pages", "web/tasks"}
"""Packages whose modules are found by their names: their docstrings say how."""


def test_the_docstring_of_every_package_names_its_modules_on_one_screen() -> None:
    for init in sorted((ROOT / "src/shoal").glob("*/**/__init__.py")):
        package = init.parent.relative_to(ROOT / "src/shoal").as_posix()
        said = ast.get_docstring(ast.parse(init.read_text())) or ""
        assert 5 <= len(said.splitlines()) <= 15, package
        if package not in LISTS:
            names = {each.stem for each in init.parent.glob("*.py")} - {"__init__"}
            assert sorted(names - set(re.findall(r"\w+", said))) == [], package


def test_no_two_test_files_have_one_name() -> None:
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


GROUPED = """
import pytest

@pytest.mark.parametrize("engine", ["spark", "csv"])
@pytest.mark.parametrize("number", range(2))
def test_it(engine, number, request):
    open(f"{engine}-{number}", "w").write(request.node.nodeid)
"""


@pytest.mark.slow
def test_tests_that_need_the_cluster_are_one_group_of_the_test_processes(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT / 'tests'}\n")
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (tmp_path / "test_it.py").write_text(GROUPED)
    command = [sys.executable, "-m", "pytest", "-n", "1", "--dist", "loadgroup"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    for number in range(2):
        assert (tmp_path / f"spark-{number}").read_text().endswith("@spark")
        assert "@" not in (tmp_path / f"csv-{number}").read_text()


CODE_PAGES = [
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs" / "internals" / "pipeline.md",
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]


@pytest.mark.parametrize("page", CODE_PAGES, ids=lambda page: page.stem)
def test_every_file_that_a_page_about_the_code_names_exists(page: Path) -> None:
    quoted = re.findall(
        r"`([\w.-]+/[\w./-]*|[\w-]+\.(?:py|toml|yml|txt|md))`", page.read_text("utf-8")
    )
    places = (ROOT, ROOT / "src" / "shoal", ROOT / "src")
    missing = [name for name in quoted if not any((place / name).exists() for place in places)]
    assert missing == [], page.name


def hints() -> list[str]:
    """What the source says in every `hint=`, with `_` for what is filled in."""
    found = []
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "hint":
                parts = [
                    part.value if isinstance(part, ast.Constant) else "_"
                    for part in ast.walk(node.value)
                    if isinstance(part, ast.Constant | ast.FormattedValue)
                ]
                found.append("".join(str(part) for part in parts))
    return [hint for hint in found if hint]


@pytest.mark.slow
def test_every_hint_begins_in_lower_case_and_ends_without_a_full_stop() -> None:
    found = hints()
    assert len(found) > 50
    assert [hint for hint in found if hint[0].isupper() or hint.endswith(".")] == []


TRIED = """
from hypothesis import given, settings, strategies as st

@given(st.integers())
@settings(max_examples=150, database=None)
def test_it(number):
    with open("tried", "a") as file:
        file.write(".")
"""


@pytest.mark.slow
@pytest.mark.parametrize(("option", "tried"), [([], 50), (["--all-examples"], 150)])
def test_the_suite_tries_a_part_of_the_examples(
    tmp_path: Path, option: list[str], tried: int
) -> None:
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {ROOT / 'tests'}\n")
    (tmp_path / "test_it.py").write_text(TRIED)
    command = [sys.executable, "-m", "pytest", "-p", "example_budgets", *option]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert len((tmp_path / "tried").read_text()) == tried
