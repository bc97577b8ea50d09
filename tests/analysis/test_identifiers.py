"""Columns that look like identifiers of persons, with few false alarms."""

from __future__ import annotations

import pytest

from shoal.analysis.identifiers import identifiers

FOUND = {
    "e-mail": (["ann@example.org", "bob@example.com"], "email address"),
    "contact": (["ann@example.org", "bob@example.com"], "email address"),
    "Nachname": (["Meier", "O'Brien", "de la Cruz"], "name"),
    "date_of_birth": (["1970-01-31", "1980-12-01"], "date more exact than a year"),
    "Geburtsdatum": (["31.01.1970", "1.12.1980"], "date more exact than a year"),
    "age": (["34", "91"], "age over 89"),
    "telefon": (["+49 30 123456", "030/98765"], "telephone number"),
    "fax": (["030 123456"], "fax number"),
    "x": (["123-45-6789", "987-65-4321"], "social security number"),
    "SSN": (["123456789"], "social security number"),
    "MRN": (["A-1001", "A-1002"], "medical record number"),
    "iban": (["DE89 3704 0044 0532 0130 00"], "account number"),
    "reference": (["DE89370400440532013000", "GB82WEST12345698765432"], "account number"),
    "payment": (["4111 1111 1111 1111"], "account number"),
    "passport": (["C01X00T47"], "certificate or license number"),
    "chassis": (["1HGCM82633A004352"], "vehicle identifier"),
    "serial number": (["SN-99812"], "device identifier"),
    "adapter": (["00:1A:2B:3C:4D:5E"], "device identifier"),
    "page": (["https://example.org/ann", "www.example.org"], "web address"),
    "seen from": (["192.168.0.17", "10.0.0.1"], "internet address"),
    "fingerprint": (["8f3a9c"], "biometric identifier"),
    "photo": (["ann.jpg"], "full-face photograph"),
    "zip": (["10115", "80331"], "place smaller than a state"),
    "Patientennummer": (["17", "18"], "other unique number"),
}


@pytest.mark.parametrize("name", FOUND)
def test_every_kind_is_found(name: str) -> None:
    values, kind = FOUND[name]
    assert [each.kind for each in identifiers([(name, values)])] == [kind]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("age", ["0", "34", "89"]),
        ("score", ["17", "23", "99"]),
        ("race", ["White", "Black", "Other"]),
        ("year", ["1999", "2004"]),
        ("diagnosis", ["J45", "E11.9"]),
        ("weight", ["70.5", "81.2"]),
        ("occupation", ["Sales", "Tech-support"]),
        ("code", ["1.2.3", "4.5.6"]),
        ("notes", ["fine", "call 555"]),
        ("empty", []),
    ],
)
def test_what_only_looks_like_it_is_left_alone(name: str, values: list[str]) -> None:
    assert list(identifiers([(name, values)])) == []
