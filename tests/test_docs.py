"""What the documentation says holds: its code runs, its definitions are valid, its errors exist."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
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


FROM_NOTHING = ("docs/index.md", "docs/tutorial.md")
"""Pages that begin in an empty folder; on all others the reader is in the folder of the demo."""


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("python", "console"), ids=name_of)
def test_every_code_block_of_a_page_runs(
    page: Path, demo_folder: Path, programs: Path, tmp_path: Path
) -> None:
    terminal = Terminal(demo_folder, programs)
    if name_of(page) in FROM_NOTHING:
        terminal.folder = tmp_path / "empty"
        terminal.folder.mkdir()
    for block in blocks(page, "python", "console", "yaml"):
        place = f"{name_of(page)} line {block.line}"
        if block.file:
            (terminal.folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "yaml":
            continue
        elif block.language == "python":
            expect(0, python(block.text, folder=terminal.folder), place)
        else:
            for command, code in commands(block):
                expect(code, terminal.run(command), f"{place}: {command}")


@pytest.mark.slow
def test_the_commands_of_the_readme_run_once_it_is_installed(
    programs: Path, tmp_path: Path
) -> None:
    (block,) = blocks(ROOT / "README.md", "bash")
    install, own = block.text.replace(".venv/bin/", "").splitlines()
    terminal = Terminal(tmp_path, programs)
    expect(0, terminal.run(install.rpartition(" && ")[2]), install)
    shutil.copy(tmp_path / "shoal-demo" / "patients.csv", tmp_path)
    expect(0, terminal.run(own), own)


@pytest.mark.parametrize(
    ("block", "code"), [("$ false\n", 1), ("$ true # exit 3\n", 0), ("$ cd missing\n", 1)]
)
def test_a_command_that_ends_in_another_way_than_a_page_says_is_found(
    block: str, code: int, programs: Path, tmp_path: Path
) -> None:
    ((command, stated),) = commands(Block("console", block, 1, None))
    done = Terminal(tmp_path, programs).run(command)
    assert done.returncode == code
    with pytest.raises(AssertionError, match="the page"):
        expect(stated, done, "the page")


class Terminal:
    """One terminal for all commands of a page: it stays in the folder where a command leads."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        folders = [str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]
        self._path = os.pathsep.join(folders)

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        with tempfile.NamedTemporaryFile() as place:
            done = subprocess.run(
                ["bash", "-c", f'{command}\ncode=$?; pwd >"$PLACE"; exit $code'],
                cwd=self.folder,
                env={**os.environ, "PATH": self._path, "PLACE": place.name},
                capture_output=True,
                text=True,
                check=False,
            )
            self.folder = Path(place.read().decode().strip() or self.folder)
        return done


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
