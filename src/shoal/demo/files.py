"""The demonstration's folder: the registry, its definition and the hierarchies it names."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from shoal.demo.registry import write_registry
from shoal.demo.vocabulary import COUNTRIES, OCCUPATIONS, OUTSIDE_WORK

if TYPE_CHECKING:
    from pathlib import Path

DATA = "patients.csv"
DEFINITION = "patients.yaml"
COUNTRY_HIERARCHY = "hierarchies/country.csv"
RELEASE = "release.csv"
RESULT = "result.json"
REPORT = "report.html"

_DEFINITION_TEXT = """\
# What to release of the patient registry, and how safe it has to be.
# Relative paths are relative to this file.
source: {data}
output: {release}
report: {report}

# Every released record must share its quasi-identifiers with at least four others.
k: 5
# At most so many records may be left out where generalizing all others would cost more.
suppression: 5%

# Empty fields are missing; these texts mean the same here. Missing matches missing.
missing: {{match: extended, values: ["?", unknown]}}

attributes:
  # Identifiers name a person. They are never released.
  patient_id: identifier
  name: identifier

  # Quasi-identifiers: what a neighbour may know. Each may be generalized along its hierarchy.
  birth: {{role: quasi-identifier, hierarchy: {{date: [year, decade, century]}}}}
  sex: {{role: quasi-identifier, hierarchy: suppress}}
  zip: {{role: quasi-identifier, hierarchy: {{mask: [2, 3, 4, 5]}}}}
  country: {{role: quasi-identifier, hierarchy: {country}}}
  occupation:
    role: quasi-identifier
    hierarchy:
      tree:
{tree}

  # Sensitive: what nobody may learn of a person. Every class has at least three diagnoses.
  diagnosis: {{role: sensitive, diversity: {{distinct: 3}}}}

  # What nobody needs is left out, the rest is released as it is.
  children: drop
  admitted: drop
  ward: keep
  length_of_stay: keep
"""


def write_demo(folder: Path, records: int = 20_000, seed: int = 7) -> Path:
    """Write the data, the hierarchies and the definition into the folder; returns the definition.

    The definition is written last, so that its presence means the folder is complete.
    """
    (folder / COUNTRY_HIERARCHY).parent.mkdir(parents=True, exist_ok=True)
    write_registry(folder / DATA, records, seed)
    _write_country_hierarchy(folder / COUNTRY_HIERARCHY)
    definition = folder / DEFINITION
    definition.write_text(definition_text(), encoding="utf-8")
    return definition


def definition_text() -> str:
    """The definition of the demonstration, with comments."""
    return _DEFINITION_TEXT.format(
        data=DATA,
        release=RELEASE,
        report=REPORT,
        country=COUNTRY_HIERARCHY,
        tree=_occupation_tree(),
    )


def _occupation_tree() -> str:
    """One line per group of occupations, indented to follow `tree`."""
    lines = []
    for group, jobs in OCCUPATIONS.items():
        leaves = ", ".join((*OUTSIDE_WORK.get(group, ()), *jobs))
        lines.append(f"        {group}: [{leaves}]")
    return "\n".join(lines)


def _write_country_hierarchy(path: Path) -> None:
    """One row per country: the country, its region, its continent, `*`."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=";", lineterminator="\n")
        for continent, regions in COUNTRIES.items():
            for region, countries in regions.items():
                writer.writerows((country, region, continent, "*") for country in countries)
