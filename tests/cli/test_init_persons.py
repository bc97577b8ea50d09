"""`shoal init` on tables of visits: what repeats for a person is an identifier, and `person`."""

from __future__ import annotations

import csv
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import shoal
from shoal.cli.addresses import address_of
from shoal.cli.init import drafted
from shoal.definition.model import Definition
from shoal.definition.parse import parse_yaml
from shoal.definition.read import from_mapping

DATA = Path(os.environ.get("SHOAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
GIVEN = ["Ana", "Ben", "Cleo", "Dora", "Emil", "Finn", "Greta", "Hugo", "Ida", "Jon"]
FAMILY = [f"{start}{end}" for start in ("Ber", "Hol", "Mar", "Ros") for end in ("g", "tin", "ten")]
CODES = [f"{letter}{number:02}" for letter in "EIJKM" for number in range(60)]

Row = dict[str, str]
MEANINGS = ("key", "given", "family", "birth", "sex", "zip", "visit", "diagnosis", "ward")


def visits(persons: int = 300, seed: int = 1, most: int = 12) -> list[Row]:
    """Visits of persons, each with what stays the same and what changes."""
    draw = random.Random(seed)
    rows = []
    for number in range(persons):
        person = {
            "key": f"{4711 + 13 * number}",
            "given": draw.choice(GIVEN),
            "family": draw.choice(FAMILY),
            "birth": f"{draw.randint(1930, 2005)}-{_day(draw)}",
            "sex": draw.choice("mf"),
            "zip": f"{draw.randint(100, 199) * 10 + draw.choice([1, 3]):05}",
        }
        for _ in range(draw.randint(1, most)):
            visit = {
                "visit": f"2024-{_day(draw)}",
                "diagnosis": draw.choice(CODES),
                "ward": draw.choice(["north", "south", "east", "west"]),
            }
            rows.append({**person, **visit})
    draw.shuffle(rows)
    return rows


def _day(draw: random.Random) -> str:
    return f"{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"


@pytest.fixture
def draft_of(tmp_path: Path) -> Callable[[Sequence[Row], dict[str, str]], tuple[Definition, str]]:
    """The draft for rows whose columns get these names; only these columns."""

    def draft(rows: Sequence[Row], names: dict[str, str]) -> tuple[Definition, str]:
        path = tmp_path / "visits.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(names.values())
            writer.writerows([row[meaning] for meaning in names] for row in rows)
        text = drafted(address_of(str(path)), tmp_path, 3).text
        return from_mapping(parse_yaml(text).data), text

    return draft


def named(*names: str) -> dict[str, str]:
    return dict(zip(MEANINGS, names, strict=True))


LANGUAGES = {
    "English": named(
        *("patient_id", "first name", "last name", "date of birth", "sex", "zip code"),
        *("visit date", "diagnosis code", "ward"),
    ),
    "German": named(
        *("Patientennummer", "Vorname", "Nachname", "Geburtsdatum", "Geschlecht", "PLZ"),
        *("Besuch", "Diagnose", "Station"),
    ),
    "French": named(
        *("numero_dossier", "prénom", "nom", "date_naissance", "sexe", "code_postal"),
        *("date_visite", "diagnostic", "service"),
    ),
    "Spanish": named(
        *("id_paciente", "nombre", "apellido", "fecha_nacimiento", "sexo", "codigo_postal"),
        *("fecha", "diagnóstico", "planta"),
    ),
    "Italian": named(
        *("codice_paziente", "nome", "cognome", "data_nascita", "sesso", "CAP"),
        *("data_visita", "diagnosi", "reparto"),
    ),
    "Portuguese": named(
        *("código do paciente", "nome", "sobrenome", "data de nascimento", "sexo", "código postal"),
        *("data da consulta", "diagnóstico", "enfermaria"),
    ),
    "Dutch": named(
        *("patiëntnummer", "voornaam", "achternaam", "geboortedatum", "geslacht", "postcode"),
        *("datum", "diagnose", "afdeling"),
    ),
    "Norwegian": named(
        *("pasient_nr", "fornavn", "etternavn", "fødselsdato", "kjønn", "postnr"),
        *("dato", "diagnose", "avdeling"),
    ),
    "Swedish": named(
        *("personnummer", "förnamn", "efternamn", "födelsedatum", "kön", "postnummer"),
        *("datum", "diagnos", "avdelning"),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_and_names_of_persons_are_identifiers_in_many_languages(
    language: str, draft_of: Callable[..., tuple[Definition, str]]
) -> None:
    names = LANGUAGES[language]
    definition, text = draft_of(visits(), names)
    roles = {meaning: definition.attributes[name].role for meaning, name in names.items()}
    assert roles["key"] == "identifier"
    assert definition.person == (names["key"],)
    assert f"300 different values of {names['key']}" in text.replace("\n# ", " ")
    assert (roles["birth"], roles["sex"], roles["zip"]) == ("quasi-identifier",) * 3
    assert roles["visit"] == roles["ward"] == "quasi-identifier"
    assert roles["diagnosis"] == "sensitive"
    assert roles["given"] == roles["family"] == "identifier"


@pytest.mark.parametrize("most", [2, 12, 40])
def test_a_number_with_a_name_that_says_nothing_is_known_by_its_records(
    most: int, draft_of: Callable[..., tuple[Definition, str]]
) -> None:
    names = {**LANGUAGES["English"], "key": "x1"}
    for meaning in ("given", "family"):
        del names[meaning]
    definition, text = draft_of(visits(most=most), names)
    assert definition.attributes["x1"].role == "identifier"
    assert definition.person == ("x1",)
    assert "agree in date of birth, sex and zip code" in text.replace("\n  # ", " ")


def test_columns_without_telling_names_are_known_by_their_records_alone(
    draft_of: Callable[..., tuple[Definition, str]],
) -> None:
    meanings = ("key", "birth", "sex", "zip", "visit", "diagnosis")
    names = {meaning: f"v{at}" for at, meaning in enumerate(meanings)}
    definition, _ = draft_of(visits(), names)
    assert definition.attributes[names["key"]].role == "identifier"
    assert definition.person == (names["key"],)
    assert definition.attributes[names["diagnosis"]].role != "identifier"
    assert definition.attributes[names["zip"]].role == "quasi-identifier"
    assert definition.attributes[names["birth"]].role == "quasi-identifier"


def test_names_and_birth_identify_persons_where_no_number_does(
    draft_of: Callable[..., tuple[Definition, str]],
) -> None:
    draw = random.Random(2)
    family = {row["key"]: f"{row['family']}{draw.choice('abcdef')}" for row in visits()}
    rows = [{**row, "family": family[row["key"]]} for row in visits()]
    names = {"family": "Nachname", "birth": "Geburtsdatum", "sex": "sex", "ward": "ward"}
    definition, _ = draft_of(rows, names)
    assert definition.person == ("Nachname", "Geburtsdatum")


@pytest.mark.slow
def test_the_draft_of_a_table_of_visits_runs(
    tmp_path: Path, draft_of: Callable[..., tuple[Definition, str]]
) -> None:
    definition, text = draft_of(visits(persons=900, most=3), LANGUAGES["German"])
    (tmp_path / "visits.yaml").write_text(text, encoding="utf-8")
    assert shoal.run(tmp_path / "visits.yaml").verified
    assert definition.person == ("Patientennummer",)
    header = (tmp_path / "visits-release.csv").read_text(encoding="utf-8").partition("\n")[0]
    assert "Patientennummer" not in header


def test_no_person_is_proposed_where_each_has_one_record(
    draft_of: Callable[..., tuple[Definition, str]],
) -> None:
    names = LANGUAGES["English"]
    definition, text = draft_of(visits(persons=900, most=1), names)
    assert definition.attributes["patient_id"].role == "identifier"
    assert definition.person == ()
    assert "person:" not in text


@pytest.mark.slow
@pytest.mark.parametrize("name", ["diagnosis code", "code", "dx", "place", "postal code", "x2"])
def test_codes_that_persons_share_are_no_identifiers(
    name: str, draft_of: Callable[..., tuple[Definition, str]]
) -> None:
    names = {**LANGUAGES["English"], "diagnosis": name}
    definition, _ = draft_of(visits(), names)
    assert definition.attributes[name].role != "identifier"


@pytest.mark.slow
@pytest.mark.parametrize("table", ["adult", "adult-uci", "fars", "mach2019"])
def test_no_column_of_a_table_without_identifiers_becomes_one(table: str, tmp_path: Path) -> None:
    text = drafted(address_of(str(DATA / table / "data.csv")), tmp_path, 5).text
    definition = from_mapping(parse_yaml(text).data)
    assert "identifier" not in {attribute.role for attribute in definition.attributes.values()}
    assert definition.person == ()
