"""Each kind of hierarchy is one module, and everything that needs a kind finds it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from shoal.definition.hierarchies.base import Kind
from shoal.definition.hierarchies.registry import KINDS
from shoal.definition.json_schema import json_schema
from shoal.definition.model import Definition
from shoal.definition.read import from_mapping, read
from shoal.definition.write import spelled
from shoal.definition.xml_parse import schema_text

GUIDE = Path(__file__).parents[2] / "docs/guides/hierarchies.md"
BY_NAME = sorted(set(KINDS) - {"builder"})
"""The builder of a plug-in needs a plug-in; it has tests of its own."""


def example(kind: type[Kind]) -> dict[str, Any]:
    attribute = {"role": "quasi-identifier", "hierarchy": yaml.safe_load(kind.example)}
    return {"source": "people.csv", "k": 2, "attributes": {"a": attribute}}


def in_folder(kind: type[Kind], folder: Path) -> Definition:
    (folder / "country.csv").write_text("Austria;Europe;*\n", encoding="utf-8")
    return from_mapping(example(kind), folder=folder)


@pytest.mark.parametrize("key", BY_NAME)
def test_the_example_of_a_kind_is_one(key: str, tmp_path: Path) -> None:
    hierarchy = in_folder(KINDS[key], tmp_path).attributes["a"].hierarchy
    assert isinstance(hierarchy, KINDS[key])
    assert Draft202012Validator(json_schema()).is_valid(example(KINDS[key]))


@pytest.mark.parametrize("key", BY_NAME)
@pytest.mark.parametrize("spelling", ["yaml", "json", "xml"])
def test_the_example_of_a_kind_reads_back_from_every_spelling(
    key: str, spelling: str, tmp_path: Path
) -> None:
    definition = in_folder(KINDS[key], tmp_path)
    file = tmp_path / f"definition.{spelling}"
    file.write_text(spelled(definition, spelling), encoding="utf-8")
    assert read(file) == definition


@pytest.mark.parametrize("key", KINDS)
def test_every_kind_has_an_element_in_the_xml_schema(key: str) -> None:
    assert f'<xs:element name="{KINDS[key].tag()}"' in schema_text()


@pytest.mark.parametrize("key", KINDS)
def test_the_guide_has_every_kind(key: str) -> None:
    word = {"path": "country.csv", "suppress": "`suppress`"}.get(key, f"{{{key}: ")
    assert word in GUIDE.read_text(encoding="utf-8")


NEW_KIND = '''
from typing import Annotated, ClassVar
from pydantic import BeforeValidator, Field
from shoal.definition.hierarchies.base import Kind, Rows
from shoal.definition.scalars import as_list

class Initials(Kind):
    """The first characters of the value, as many as each level lists."""

    lengths: Annotated[tuple[int, ...], BeforeValidator(as_list)] = Field(alias="initials")

    key: ClassVar[str] = "initials"
    example: ClassVar[str] = "{initials: [2, 1]}"
    nesting: ClassVar[str] = "list falling numbers of characters"
    xsd: ClassVar[str] = """
  <xs:complexType name="initials">
    <xs:attribute name="lengths" type="counts" use="required"/>
  </xs:complexType>"""

    @property
    def listed(self):
        return len(self.lengths)

    def rows(self, attribute, counts):
        values = sorted(counts)
        return Rows.of_values([(v, *(v[:n] + "..." for n in self.lengths)) for v in values])
'''

RUN = """
import sys
import shoal.definition.hierarchies
shoal.definition.hierarchies.__path__.append(sys.argv[1])
import shoal
from shoal.definition.write import spelled
from shoal.definition.read import from_mapping, read
from pathlib import Path

folder = Path(sys.argv[1])
for level in ("1", "3"):
    name = {"role": "quasi-identifier", "hierarchy": {"initials": [2, 1]}, "from": level}
    given = {"source": "people.csv", "output": "out.csv", "k": 3, "attributes": {"name": name}}
    definition = from_mapping(given, folder=folder)
    (folder / "d.xml").write_text(spelled(definition, "xml"))
    assert read(folder / "d.xml") == definition
    result = shoal.run(definition)
    assert result.verified and shoal.verify(folder / "out.csv", definition).safe
    print(result.levels, sorted(set((folder / "out.csv").read_text().split()[1:])))
"""


@pytest.mark.slow
def test_a_new_kind_is_one_module(tmp_path: Path) -> None:
    (tmp_path / "initials.py").write_text(NEW_KIND, encoding="utf-8")
    names = ["anna", "anne", "andy", "bert", "bela", "beth"]
    (tmp_path / "people.csv").write_text("\n".join(["name", *names, ""]), encoding="utf-8")
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.stdout.splitlines() == ["{'name': 1} ['an...', 'be...']", "{'name': 3} ['*']"], (
        done.stderr
    )
