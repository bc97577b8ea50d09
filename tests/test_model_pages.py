"""Every privacy model and every loss has a page, and the definition on that page runs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import yaml

from shoal import plugins
from shoal.definition.demands import models_of
from shoal.definition.read import from_mapping
from shoal.demo.files import write_demo
from shoal.pipeline import run

DOCS = Path(__file__).parent.parent / "docs"
FOLDERS = {"privacy": "models", "loss": "losses"}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    write_demo(folder, records=800)
    header, *rows = (folder / "patients.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "register.csv").write_text("".join([header, *rows * 4]), encoding="utf-8")
    return folder


@pytest.mark.parametrize("kind", FOLDERS)
def test_each_part_has_a_page_in_the_navigation(kind: str) -> None:
    ours = {part.name for part in plugins.installed(kind) if part.distribution == "shoal"}
    if kind == "privacy":
        ours |= {"average-risk", "records-above", "k-map", "delta-presence"}
    pages = {page.stem for page in (DOCS / FOLDERS[kind]).glob("*.md")}
    assert pages == ours
    navigation = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")
    assert all(f"{FOLDERS[kind]}/{page}.md" in navigation for page in pages)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for folder in FOLDERS.values() for page in sorted((DOCS / folder).glob("*.md"))],
    ids=lambda page: f"{page.parent.name}/{page.stem}",
)
def test_the_definition_of_a_page_runs_and_uses_what_the_page_is_about(
    page: Path, demo: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(demo, tmp_path / "work"))
    texts = re.findall(r"^```yaml\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    whole = [text for text in texts if "source:" in text]
    assert whole or page.stem in ("k-anonymity", "iyengar")
    for text in whole:
        definition = from_mapping(yaml.load(text, yaml.BaseLoader), folder=folder)
        used = {definition.loss.name, *(model.name for model in models_of(definition))}
        assert page.stem in used
        result = run(definition)
        assert result.verified
        assert all(demand.met for demand in result.privacy)
