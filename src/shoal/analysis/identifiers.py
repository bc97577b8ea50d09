"""Which columns hold one of the 18 kinds of identifiers that HIPAA's safe harbor names?

A column is named only for its name *and* its content, or for very strong content: most integers are
no age, and most words are no last name. Contents are judged by distinct values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from shoal.definition.column_meaning import Sound

ENOUGH, STRONG = 0.5, 0.9
"""The share of distinct values that must look like a kind: where the name says so, or without."""


@dataclass(frozen=True)
class Identifier:
    """A column, the kind of identifier that it seems to hold, and why."""

    column: str
    kind: str
    why: str


@dataclass(frozen=True)
class Kind:
    """A kind of identifier: words for its columns, and what its values look like.

    Where `alone`, the content is so special that it needs no name.
    """

    name: str
    words: frozenset[str]
    looks: Callable[[str], bool]
    alone: bool = False


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda text: compiled.fullmatch(text) is not None


def _valid_number(text: str) -> bool:
    """Whether the digits of a payment card number have the right checksum (Luhn)."""
    digits = [int(each) for each in re.sub(r"[ -]", "", text) if each.isdigit()]
    doubled = [sum(divmod(2 * each, 10)) for each in digits[-2::-2]]
    return len(digits) >= 13 and (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0


def _card(text: str) -> bool:
    return re.fullmatch(r"(?:\d[ -]?){13,19}", text) is not None and _valid_number(text)


def _over_89(text: str) -> bool:
    return text.isdigit() and 89 < int(text) <= 130


def _address(text: str) -> bool:
    """An Internet address: four numbers up to 255, or groups of hexadecimal digits."""
    parts = text.split(".")
    if len(parts) == 4 and all(part.isdigit() and int(part) < 256 for part in parts):
        return True
    return re.fullmatch(r"(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}", text, re.IGNORECASE) is not None


def _iban(text: str) -> bool:
    """An account number with the right checksum."""
    plain = text.replace(" ", "").upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", plain):
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _vehicle(text: str) -> bool:
    """A vehicle identification number: 17 characters without I, O and Q, letters among them."""
    return re.fullmatch(r"(?=.*[A-Z])(?=.*\d)[A-HJ-NPR-Z0-9]{17}", text.upper()) is not None


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DAY = r"\d{4}-\d{1,2}-\d{1,2}(?:[ T].*)?|\d{1,2}[./-]\d{1,2}[./-](?:\d{2}|\d{4})(?:[ T].*)?"
_NUMBER = r"(?=.*\d)[\w./ -]{3,}"

KINDS = (
    Kind(
        "name",
        _words(
            "name surname firstname lastname fullname forename nachname vorname nom prenom"
            " nombre apellido nome cognome naam achternaam navn etternavn efternavn namn"
        ),
        _matches(r"[^\W\d_]+(?:[ ,.'’-]+[^\W\d_]+)*\.?"),
    ),
    Kind(
        "place smaller than a state",
        _words(
            "zip zipcode postcode postal plz postleitzahl postnummer postnr cap cep city town"
            " ort wohnort stadt gemeinde ville commune ciudad municipio citta comune cidade"
            " gemeente woonplaats kommune kommun county address adresse street strasse rue"
            " calle anschrift hausnummer indirizzo direccion endereco"
        ),
        _matches(r".*[\w].*"),
    ),
    Kind(
        "date more exact than a year",
        _words(
            "date birth birthday birthdate dob born geburtsdatum geburtstag gebdat admission"
            " admitted discharge death died aufnahme entlassung todesdatum naissance nacimiento"
            " nascita geboortedatum visit besuch visite"
        ),
        _matches(_DAY),
    ),
    Kind("age over 89", _words("age alter edad eta idade leeftijd alder"), _over_89),
    Kind(
        "telephone number",
        _words(
            "phone telephone telefon telefono telefone telefoon mobile handy tel cell movil"
            " cellulare puhelin"
        ),
        _matches(r"\+?[\d ()/.-]{6,20}"),
    ),
    Kind("fax number", _words("fax telefax"), _matches(r"\+?[\d ()/.-]{6,20}")),
    Kind(
        "email address",
        _words("email mail"),
        _matches(r"[^@\s]+@[^@\s]+\.[a-z]{2,}"),
        alone=True,
    ),
    Kind(
        "social security number",
        _words(
            "ssn socialsecurity svnr sozialversicherungsnummer nif cpf bsn cpr personnummer"
            " fodselsnummer hetu pesel codicefiscale ahv nino securitesociale"
        ),
        _matches(_NUMBER),
    ),
    Kind("social security number", frozenset(), _matches(r"\d{3}-\d{2}-\d{4}"), alone=True),
    Kind(
        "medical record number",
        _words(
            "mrn medicalrecord patientid patientnumber patientnr patientno patientennummer"
            " chart fallnummer aktennummer krankenaktennummer dossier recordnumber pid"
        ),
        _matches(_NUMBER),
    ),
    Kind(
        "health plan number",
        _words(
            "insurance beneficiary beneficiaryid kvnr krankenversichertennummer"
            " versicherungsnummer healthplan memberid policynumber"
        ),
        _matches(_NUMBER),
    ),
    Kind(
        "account number",
        _words("account accountnumber iban konto kontonummer compte cuenta conto creditcard card"),
        _matches(_NUMBER),
    ),
    Kind("account number", frozenset(), lambda text: _iban(text) or _card(text), alone=True),
    Kind(
        "certificate or license number",
        _words(
            "license licence certificate fuehrerschein passport reisepass passeport pasaporte"
            " passaporto paspoort ausweis ausweisnummer"
        ),
        _matches(_NUMBER),
    ),
    Kind(
        "vehicle identifier",
        _words("vin plate licenseplate kennzeichen fahrgestellnummer numberplate vehicle"),
        _matches(_NUMBER),
    ),
    Kind("vehicle identifier", frozenset(), _vehicle, alone=True),
    Kind(
        "device identifier",
        _words("serial serialnumber device deviceid imei seriennummer geraetenummer mac"),
        _matches(_NUMBER),
    ),
    Kind(
        "device identifier", frozenset(), _matches(r"(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}"), alone=True
    ),
    Kind(
        "web address",
        _words("url website homepage web"),
        _matches(r"(?:https?://|www\.)\S+"),
        alone=True,
    ),
    Kind("internet address", _words("ip ipaddress"), _address, alone=True),
    Kind(
        "biometric identifier",
        _words("fingerprint retina iris voiceprint biometric fingerabdruck"),
        _matches(r".+"),
    ),
    Kind(
        "full-face photograph",
        _words("photo photograph image picture foto bild portrait"),
        _matches(r".+\.(?:jpe?g|png|gif|bmp|tiff?|webp)|data:image/.*"),
    ),
)


def identifiers(columns: Iterable[tuple[str, Iterable[str]]]) -> Iterator[Identifier]:
    """The kinds that columns seem to hold; each is a name with its distinct values."""
    for name, values in columns:
        texts = [text for text in values if text]
        found = _kind_of(name, texts)
        if found is not None:
            yield found
            continue
        if Sound(name).number_of_person and len(texts) > 1:
            yield Identifier(name, "other unique number", "its name says so")


def _kind_of(name: str, texts: list[str]) -> Identifier | None:
    words = Sound(name).words
    for kind in KINDS:
        share = sum(map(kind.looks, texts)) / len(texts) if texts else 0.0
        if words & kind.words and (share >= ENOUGH or (kind.looks is _over_89 and share > 0)):
            return Identifier(name, kind.name, f"its name, and {share:.0%} of its values")
        if kind.alone and share >= STRONG:
            return Identifier(name, kind.name, f"{share:.0%} of its values")
    return None
