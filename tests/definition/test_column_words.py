"""What names of columns sound like, in several languages."""

from __future__ import annotations

import pytest

from shoal.definition.column_meaning import Sound


@pytest.mark.parametrize(
    "name",
    [
        *("patient_id", "PatientID", "pat_nr", "PatNr", "patid", "Patientennummer", "SSN"),
        *("social security number", "nhs_number", "MRN", "svnr", "Sozialversicherungsnummer"),
        *("id_patient", "n_patient", "numéro de patient", "no_securite_sociale", "código_paciente"),
        *("numero paziente", "codice_fiscale", "id_paciente", "CPF", "patiëntnummer", "BSN"),
        *("klantnummer", "pasient_id", "fødselsnummer", "personnummer", "CPR", "Kundennr", "PESEL"),
        *("Mitgliedsnummer", "USUBJID", "customer-key", "user id", "versichertennummer", "emp_no"),
    ],
)
def test_a_number_of_a_person_is_heard(name: str) -> None:
    assert Sound(name).number_of_person


@pytest.mark.parametrize(
    "name", ["numero_dossier", "Fallnummer", "case_id", "medical record number", "Aktenkennzeichen"]
)
def test_a_number_of_a_case_is_heard(name: str) -> None:
    assert Sound(name).number_of_case


@pytest.mark.parametrize(
    "name",
    [
        *("name", "Surname", "last_name", "Nachname", "VORNAME", "nom", "prénom", "nombre", "naam"),
        *("apellidos", "cognome", "nome", "sobrenome", "achternaam", "etternavn", "efternamn"),
        *("patient name", "nome_paziente", "name of the patient", "nom de famille"),
    ],
)
def test_a_name_of_a_person_is_heard(name: str) -> None:
    assert Sound(name).name_of_person


@pytest.mark.parametrize(
    "name", ["e-mail", "Telefon", "Straße", "adresse", "dirección", "phone no"]
)
def test_a_way_to_reach_a_person_is_heard(name: str) -> None:
    assert Sound(name).contact


@pytest.mark.parametrize(
    ("name", "family"),
    [
        *(
            (name, "birth")
            for name in ("age", "Geburtsdatum", "date_naissance", "fecha nacimiento")
        ),
        *(
            (name, "birth")
            for name in ("età", "data_nascita", "idade", "geboortedatum", "fødselsdato")
        ),
        *(
            (name, "sex")
            for name in ("Sex", "Geschlecht", "sexe", "sesso", "geslacht", "kjønn", "kön")
        ),
        *(
            (name, "place")
            for name in ("zip", "PLZ", "code postal", "codigo_postal", "CAP", "Postnr")
        ),
        *((name, "place") for name in ("postcode", "Wohnort", "ville", "ciudad", "kommune")),
    ],
)
def test_what_describes_a_person_is_heard(name: str, family: str) -> None:
    sound = Sound(name)
    assert sound.family == family
    assert sound.known
    assert not sound.number_of_person
    assert not sound.name_of_person
    assert not sound.contact
    assert not sound.maybe_person


@pytest.mark.parametrize(
    "name",
    [
        *("zip code", "postal code", "birth date", "diagnosis code", "icd_code", "diagnosis_id"),
        *("Postleitzahl", "number of children", "fiscal_year", "admitted via", "nombre d'enfants"),
        *("drug name", "nom_commune", "country name", "region_id", "Personenzahl", "num_persons"),
        *("hospital_name", "ward", "Diagnose", "familysize", "istatenum", "salary-class", "code"),
    ],
)
def test_no_person_is_heard_where_none_is_named(name: str) -> None:
    sound = Sound(name)
    assert not sound.number_of_person
    assert not sound.number_of_case
    assert not sound.number_alone
    assert not sound.name_of_person
    assert not sound.contact


@pytest.mark.parametrize(
    "name",
    [
        *("Hauptdiagnose", "Nebendiagnosen", "Vorerkrankungen", "Nettoeinkommen", "Todesursache"),
        *("Diagnostic principal", "Pathologie", "Médicament", "Traitement", "Medicación"),
        *("Diagnóstico principal", "Causa de muerte", "Terapia", "Farmaco", "Causa di morte"),
    ],
)
def test_what_nobody_should_know_is_heard_in_compounds_and_other_languages(name: str) -> None:
    assert Sound(name).sensitive


@pytest.mark.parametrize(
    "name",
    [
        *("Geb.-Datum", "geb_datum", "Aufnahmedatum", "Entlassdatum", "Größe (cm)", "Gewicht"),
        *("Kinder", "Haushaltsgröße", "Herkunft", "Stadtteil", "Situation familiale", "Taille"),
        *("Poids", "Niveau d'études", "Estatura", "Fecha de alta", "Comunidad autónoma", "Peso"),
        *("Stato civile", "Titolo di studio", "Altezza", "Cittadinanza", "Data di ricovero"),
    ],
)
def test_what_others_may_know_is_heard_in_compounds_and_other_languages(name: str) -> None:
    assert Sound(name).known


@pytest.mark.parametrize(
    "name",
    [
        *("Telefonnummer", "Handynummer", "Tel.", "Strasse/Hausnr.", "Courriel", "Wohnadresse"),
        *("Correo electrónico", "Domicilio"),
    ],
)
def test_more_ways_to_reach_a_person_are_heard(name: str) -> None:
    assert Sound(name).contact


@pytest.mark.parametrize("name", ["Mädchenname", "Nom de jeune fille", "Primer apellido"])
def test_more_names_of_persons_are_heard(name: str) -> None:
    assert Sound(name).name_of_person
