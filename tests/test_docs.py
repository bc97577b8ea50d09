"""What the documentation says holds: its code runs, its definitions are valid, its errors exist."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

import prefork
from commands import python
from shoal.definition import model
from shoal.definition.hierarchies.registry import KINDS
from shoal.definition.read import from_mapping
from shoal.demo.files import write_demo
from shoal.pipeline import run
from shoal.report.result import write_result

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, its text, and the line it begins at.

    `file` is where a reader is told to save it, by the words before it.
    """

    language: str
    text: str
    line: int
    file: str | None


def blocks(page: Path, *languages: str) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    fences = re.finditer(
        r"(?:Save it as `([^`]+)`:\n\n)?^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL
    )
    found = [Block(m[2], m[3], text.count("\n", 0, m.start(2)) + 1, m[1]) for m in fences]
    return [block for block in found if block.language in languages]


def commands(block: Block) -> Iterator[tuple[str, int]]:
    """Each `$ command` with its exit code: 0, or what a comment `# exit 3` says."""
    for line in block.text.splitlines():
        if line.startswith("$ "):
            stated = re.search(r"# exit (\d+)$", line)
            yield line.removeprefix("$ "), int(stated[1]) if stated else 0


def pages_with(*languages: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, *languages)]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.fixture(scope="module")
def finished_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write_result(run(write_demo(folder, records=2000)), folder / "result.json")
    return folder


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a `shoal` that need not import anything."""
    folder = tmp_path_factory.mktemp("programs")
    prefork.program(folder)
    return folder


@pytest.fixture
def demo_folder(finished_demo: Path, tmp_path: Path) -> Path:
    for example in ("mart", "nightly", "other-tools"):
        shutil.copytree(
            ROOT / "examples" / example,
            tmp_path / "work" / "examples" / example,
            ignore=shutil.ignore_patterns("data", "log.*", "release*"),
        )
    return Path(shutil.copytree(finished_demo, tmp_path / "work", dirs_exist_ok=True))


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("python", "console"), ids=name_of)
def test_every_code_block_of_a_page_runs(page: Path, demo_folder: Path, programs: Path) -> None:
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    for block in blocks(page, "python", "console", "yaml"):
        place = f"{name_of(page)} line {block.line}"
        if block.file:
            (demo_folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "yaml":
            continue
        elif block.language == "python":
            expect(0, python(block.text, folder=demo_folder), place)
        else:
            for command, code in commands(block):
                expect(code, shell(command, demo_folder, path), f"{place}: {command}")


def shell(command: str, folder: Path, path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def expect(code: int, done: subprocess.CompletedProcess[str], place: str) -> None:
    assert done.returncode == code, f"{place}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


@pytest.mark.parametrize("page", pages_with("yaml"), ids=name_of)
def test_every_whole_definition_of_a_page_is_valid(page: Path, demo_folder: Path) -> None:
    for block in blocks(page, "yaml"):
        data = yaml.load(block.text, yaml.BaseLoader)
        if {"source", "attributes"} <= set(data):
            from_mapping(data, file=f"{name_of(page)} line {block.line}", folder=demo_folder)


ENGINES = ("databases.md", "spark.md")


def test_every_key_of_a_definition_is_explained_in_the_guides() -> None:
    guides = "".join(
        (ROOT / "docs" / "guides" / name).read_text(encoding="utf-8")
        for name in ("definition.md", "hierarchies.md", "large-tables.md", "data.md", *ENGINES)
    )
    keys = {
        field.alias or name
        for part in (*vars(model).values(), *KINDS.values())
        if isinstance(part, type) and issubclass(part, model.DefinitionPart)
        for name, field in part.model_fields.items()
    }
    assert len(keys) > 30
    assert [key for key in sorted(keys) if not re.search(rf"\b{re.escape(key)}(`|:)", guides)] == []


def test_the_error_page_lists_exactly_the_codes_that_errors_have() -> None:
    source = "".join(f.read_text(encoding="utf-8") for f in (ROOT / "src").rglob("*.py"))
    raised = set(re.findall(r'\bcode="([a-z0-9-]+)"', source))
    named = set(re.findall(r'"([a-z0-9-]+)"', source))  # some codes come from a table of them
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    explained = re.findall(r"^## `([a-z0-9-]+)`$", page, re.MULTILINE)
    assert explained == sorted(explained)
    assert raised <= set(explained) <= named
    cause_and_remedy = re.findall(r"^## `([a-z0-9-]+)`\n\n[^#\n].*?\n\n[^#\n]", page, re.M | re.S)
    assert cause_and_remedy == explained


@pytest.mark.parametrize("folder", ["models", "losses"])
def test_every_model_and_loss_page_has_the_same_headings(folder: str) -> None:
    for page in (ROOT / "docs" / folder).glob("*.md"):
        headings = re.findall(r"^## (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert headings == [
            "What it promises",
            "What it does not promise",
            "Example",
            "Cost",
            "References",
        ], name_of(page)
