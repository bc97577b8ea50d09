"""`shoal convert` and `shoal schema`, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from lxml import etree

from commands import SHOAL, shoal
from shoal.definition.read import read

YAML = """# a comment
source: data/patients.csv
output: release.csv
k: 5
attributes:
  zip: {role: quasi-identifier, hierarchy: hierarchies/zip.csv, limit: 1}
  name: identifier
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "hierarchies").mkdir()
    (tmp_path / "hierarchies" / "zip.csv").write_text("1;*\n2;*\n")
    (tmp_path / "a.yaml").write_text(YAML)
    return tmp_path


@pytest.mark.slow
def test_a_definition_goes_through_all_spellings_and_stays_the_same(folder: Path) -> None:
    for source, target in (("a.yaml", "b.xml"), ("b.xml", "c.json"), ("c.json", "d.yml")):
        done = shoal("convert", source, target, folder=folder)
        assert done.returncode == 0, done.stderr
        assert "Comments are not part of it" in done.stderr
    same = read(folder / "a.yaml")
    assert all(read(folder / name) == same for name in ("b.xml", "c.json", "d.yml"))
    assert 'path="data/patients.csv"' in (folder / "b.xml").read_text()


@pytest.mark.slow
def test_paths_are_adjusted_to_the_folder_of_the_new_file(folder: Path) -> None:
    (folder / "sub [1]").mkdir()
    assert shoal("convert", "a.yaml", "sub [1]/b.xml", folder=folder).returncode == 0
    text = (folder / "sub [1]" / "b.xml").read_text()
    assert 'path="../data/patients.csv"' in text
    assert 'path="../hierarchies/zip.csv"' in text
    assert shoal("convert", "sub [1]/b.xml", "c.yaml", folder=folder).returncode == 0
    found = read(folder / "c.yaml").attributes["zip"].hierarchy
    assert found is not None


@pytest.mark.slow
def test_a_dash_is_the_input_and_the_output(folder: Path) -> None:
    done = subprocess.run(
        [*SHOAL, "convert", "-", "-", "--to", "json"],
        input=YAML,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["source"] == "data/patients.csv"


@pytest.mark.slow
def test_nothing_is_overwritten_without_force(folder: Path) -> None:
    (folder / "b.yaml").write_text("mine")
    done = shoal("convert", "a.yaml", "b.yaml", folder=folder)
    assert (done.returncode, (folder / "b.yaml").read_text()) == (2, "mine")
    assert "[file-exists]" in done.stderr
    assert shoal("convert", "a.yaml", "b.yaml", "--force", folder=folder).returncode == 0


@pytest.mark.slow
def test_what_is_read_is_not_overwritten_even_with_force(folder: Path) -> None:
    (folder / "b.yaml").symlink_to(folder / "a.yaml")
    for output in ("a.yaml", "./a.yaml", "b.yaml", "data/patients.csv"):
        done = shoal("convert", "a.yaml", output, "--to", "yaml", "--force", folder=folder)
        assert (done.returncode, (folder / "a.yaml").read_text()) == (2, YAML)
        assert "[would-overwrite]" in done.stderr


@pytest.mark.slow
def test_an_ending_that_says_nothing_needs_to(folder: Path) -> None:
    done = shoal("convert", "a.yaml", "b.txt", folder=folder)
    assert done.returncode == 2
    assert "[unknown-spelling]" in done.stderr
    assert shoal("convert", "a.yaml", "b.txt", "--to", "xml", folder=folder).returncode == 0
    assert (folder / "b.txt").read_text().startswith("<?xml")


@pytest.mark.slow
def test_a_wrong_definition_is_not_converted(folder: Path) -> None:
    (folder / "b.yaml").write_text("source: x.csv\nk: 1\nattributes: {a: quasi-identifier}\n")
    done = shoal("convert", "b.yaml", "c.xml", folder=folder)
    assert done.returncode == 2
    assert "k (line 2): is 1, but must be at least 2" in done.stderr
    assert not (folder / "c.xml").exists()


@pytest.mark.slow
def test_the_schemas_are_printed_or_written(tmp_path: Path) -> None:
    printed = shoal("schema", "--xsd", folder=tmp_path)
    assert etree.XMLSchema(etree.fromstring(printed.stdout.encode())) is not None
    of_marts = shoal("schema", "--mart", "--xsd", folder=tmp_path)
    assert etree.XMLSchema(etree.fromstring(of_marts.stdout.encode())) is not None
    assert '<xs:element name="catalog">' in of_marts.stdout
    assert shoal("schema", "--json", "--output", "s.json", folder=tmp_path).returncode == 0
    assert json.loads((tmp_path / "s.json").read_text())["required"] == [
        "source",
        "k",
        "attributes",
    ]
    again = shoal("schema", "--json", "-o", "s.json", folder=tmp_path)
    assert "[file-exists]" in again.stderr


@pytest.mark.slow
def test_one_schema_must_be_chosen(tmp_path: Path) -> None:
    for options in ([], ["--xsd", "--json"], ["--mart", "--json"], ["--mart"]):
        done = shoal("schema", *options, folder=tmp_path)
        assert done.returncode == 2
        assert "[which-schema]" in done.stderr


@pytest.mark.slow
def test_lxml_is_imported_only_where_xml_is_read(folder: Path) -> None:
    code = (
        "import sys; from shoal.definition.read import read; read('a.yaml');"
        "print('lxml' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"
