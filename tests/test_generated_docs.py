"""What scripts make for the documentation is what is committed; facts that pages repeat agree."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from scripts import api_page, commands_page, licences_page, pictures

from shoal.version import __version__

ROOT = Path(__file__).parent.parent


def test_the_page_of_commands_says_what_the_commands_say() -> None:
    kept = commands_page.PAGE.read_text(encoding="utf-8")
    assert kept == commands_page.page(), "run `python -m scripts.commands_page`"


def test_the_page_of_the_api_says_what_the_docstrings_say() -> None:
    kept = api_page.PAGE.read_text(encoding="utf-8")
    assert kept == api_page.page(), "run `python -m scripts.api_page`"


def test_every_package_that_is_needed_to_run_is_on_the_page_of_licences() -> None:
    """Other systems need fewer or more packages: those that are here have the licences stated."""
    kept = licences_page.PAGE.read_text(encoding="utf-8")
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8").lower().replace("_", "-")
    for name, package in licences_page.packages().items():
        row = f"| {package.name} | {package.version} | {package.licence} |"
        assert row in kept, "run `python -m scripts.licences_page`"
        assert f"\n{name}=={package.version}\n" in pinned
        assert not package.is_copyleft or f"\n- {package.name}: " in kept


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_every_picture_is_the_one_its_script_draws(name: str) -> None:
    drawn = pictures.PICTURES[name]()
    ElementTree.fromstring(drawn)
    kept = (pictures.FOLDER / name).read_text(encoding="utf-8")
    assert kept == drawn, "run `python -m scripts.pictures`"


def test_screenshots_are_small_and_shown_light_and_dark() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    shown = set(re.findall(r"images/([\w-]+\.png)", text))
    kept = {path.name: path.stat().st_size for path in (ROOT / "docs").rglob("*.png")}
    assert shown == set(kept)
    assert {name.replace("-dark", "-light") for name in kept} == {
        name for name in kept if name.endswith("-light.png")
    }
    assert max(kept.values()) < 150_000
    assert sum(kept.values()) < 1_000_000


def test_the_pages_of_the_site_are_all_in_its_navigation() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    listed = set(re.findall(r"'([^']+\.md)'", str(settings["nav"])))
    docs = ROOT / "docs"
    assert listed == {page.relative_to(docs).as_posix() for page in docs.rglob("*.md")}


def test_the_citation_states_the_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == __version__


def test_links_of_pages_outside_of_the_site_lead_to_files() -> None:
    for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        links = re.findall(r"\]\((?!https?:)([^)#]+)", text)
        assert links
        assert [link for link in links if not (ROOT / link).exists()] == [], name


def test_the_workflow_runs_the_script_on_every_system_and_python() -> None:
    workflow = ROOT / ".github" / "workflows" / "test.yml"
    job = yaml.safe_load(workflow.read_text(encoding="utf-8"))["jobs"]["test"]
    assert {"run": "scripts/test"} in job["steps"]
    matrix = job["strategy"]["matrix"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert [name.split("-")[0] for name in matrix["system"]] == ["ubuntu", "macos", "windows"]
