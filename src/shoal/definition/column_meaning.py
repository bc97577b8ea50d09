"""What a column may mean: by the words of its name, and by how its values depend on others.

Words are English, German, French, Spanish, Italian, Portuguese, Dutch, Danish, Norwegian, Swedish,
and a few of Finnish, Polish and Czech, in small letters without accents.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

_PLAIN = str.maketrans({"ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "Æ": "Ae", "ł": "l", "Ł": "L"})

_PERSONAL_NUMBERS = frozenset(
    "ssn svnr mrn nhs nhsno passport reisepass passeport pasaporte passaporto passaporte paspoort "
    "sozialversicherungsnummer krankenversichertennummer versicherungsnummer steuernummer kvnr ahv "
    "ahvnr curp nif cpf bsn burgerservicenummer cpr cprnr personnummer personnr fodselsnummer "
    "fodselsnr hetu henkilotunnus pesel rodne codicefiscale securitesociale socialsecurity "
    "kvnummer nir nhc ipp".split()
)
_CONTACTS = frozenset(
    "email mail phone telephone telefon telefono telefone telefoon handy mobile movil celular "
    "cellulare puhelin fax iban username login benutzername address adresse adress adres direccion "
    "indirizzo endereco street strasse rue calle rua straat hausnummer hausnr anschrift tel "
    "telefonnummer telefonnr handynummer handynr mobilnummer mobiltelefon courriel correo "
    "domicile domicilio postanschrift wohnadresse".split()
)
_NAMES = frozenset(
    "name names surname firstname lastname fullname forename nachname vorname familienname "
    "geburtsname rufname patientenname nom noms prenom prenoms nombre nombres apellido apellidos "
    "nome cognome sobrenome apelido naam voornaam achternaam navn fornavn etternavn efternavn namn "
    "fornamn efternamn nimi etunimi sukunimi imie nazwisko jmeno prijmeni madchenname maedchenname "
    "ehename zuname rufname".split()
)
_PERSONS = frozenset(
    "patient patiente patienten pat pt person persona personne pessoa persoon customer cust client "
    "cliente kunde kunden klient klienten klant member mem mitglied subject subj usubj participant "
    "proband probanden teilnehmer deelnemer insured versicherte versicherten verzekerde employee "
    "emp mitarbeiter empleado employe dipendente student studente studenten schueler schuler eleve "
    "alumno aluno respondent user donor resident citizen paciente paziente pasient potilas pacjent "
    "beneficiary beneficiaire beneficiario assure asegurado assistito utente".split()
)
_CASES = frozenset(
    "dossier case fall chart record medical file akte akten caso cartella historia clinica "
    "clinical clinique prontuario expediente journal sag zaak account konto compte cuenta conto "
    "conta card karte carte tarjeta policy police poliza polizza licence license".split()
)
_NUMBERS = frozenset(
    "id ids uuid guid key number no nr num nummer numero numer nro identifier identifiant "
    "identificador identificativo ident pid kennung kennzeichen schluessel schlussel pseudonym "
    "clave chiave chave matricule matricola matricula dni nie".split()
)
_CODES = frozenset("code codigo codice kod kode cod n".split())
"""Words that mean a number of a person only beside one for a person or a case."""
_FILLERS = frozenset(
    "of the full given first last middle family maiden famille legal de du des del della di da do "
    "la le el der die das van den et y e und and mother father national unique social jeune fille "
    "primer segundo primero usuel usage".split()
)


def _compounds(owners: frozenset[str]) -> frozenset[str]:
    """Numbers of these in one word, such as Patientennummer, with what may join the parts."""
    joints = ("", "e", "n", "en", "s", "er")
    return frozenset(f"{o}{joint}{n}" for o in owners for joint in joints for n in _NUMBERS)


_NUMBERS_OF_PERSONS = _compounds(_PERSONS)
_NUMBERS_OF_CASES = _compounds(_CASES)

_FAMILIES = {
    "birth": "age birth birthday birthdate born dob yob alter geburt geburtsdatum geburtstag "
    "geburtsjahr gebdat naissance edad nacimiento eta nascita idade nascimento leeftijd geboorte "
    "geboortedatum geboortejaar alder fodt fodselsdato fodselsdag fodelsedatum fodelsear fodsel "
    "syntymaaika ika wiek urodzenia geb gebdatum geburtsdat geboren geburtsort altersgruppe "
    "altersklasse naiss naissances ne nee nato nata edades annata",
    "sex": "sex gender geschlecht sexe sexo sesso genere genero geslacht kjonn kon sukupuoli plec "
    "pohlavi geschl geschlechter",
    "place": "zip zipcode postcode postal plz postleitzahl postnummer postnr cap cep city town ort "
    "wohnort stadt gemeinde landkreis bundesland ville commune departement ciudad municipio "
    "localidad provincia citta comune cidade gemeente woonplaats stad kommune kommun county state "
    "region province district country land pays pais paese residence kreis stadtteil bezirk "
    "regione comunidad poblacion quartier canton kanton cp wohnsitz barrio luogo",
    "origin": "nationality native race ethnicity religion language nationalite nacionalidad "
    "nazionalita nacionalidade nationalitet nationaliteit staatsangehorigkeit nationalitat "
    "konfession sprache langue idioma lingua herkunft herkunftsland geburtsland muttersprache "
    "cittadinanza ciudadania citoyennete raza etnia ethnie ethnicite migration "
    "migrationshintergrund",
}
_ALSO_KNOWN = frozenset(
    "marital married familienstand civil education degree school bildung schulabschluss occupation "
    "job profession workclass employer beruf arbeitgeber profesion professione profissao beroep "
    "yrke date year height weight children household bmi "
    "grosse groesse korpergrosse koerpergroesse gewicht korpergewicht koerpergewicht kinder "
    "kinderzahl haushaltsgrosse haushaltsgroesse berufsgruppe ausbildung zivilstand datum jahr "
    "taille poids metier etudes familiale matrimoniale annee enfants employeur "
    "estatura talla peso ocupacion estudios fecha ano hijos oficio empleo "
    "altezza civile studio occupazione lavoro anno figli".split()
)
_EVENTS = frozenset(
    "admission admitted aufnahme discharge entlassung visit besuch visite entree sortie ingreso "
    "alta defuncion ricovero dimissione decesso deces".split()
)
_SENSITIVE = frozenset(
    "diagnosis diagnose diagnostic diagnostico diagnosi diagnos disease icd condition illness hiv "
    "cancer krankheit krebs maladie enfermedad malattia doenca ziekte sykdom sygdom sjukdom income "
    "salary wage wages debt credit einkommen gehalt lohn schulden salaire revenu salario sueldo "
    "ingresos stipendio reddito renda inkomen lonn inkomst drug medication treatment therapy "
    "medikament behandlung therapie crime conviction politics party orientation "
    "diagnosen diagnosi medikamente medikation erkrankung erkrankungen befund befunde behinderung "
    "todesursache schwangerschaft sucht vorstrafe pathologie traitement medicament medicaments "
    "handicap grossesse tratamiento medicacion medicamento medicamentos patologia discapacidad "
    "embarazo renta muerte terapia farmaco farmaci disabilita gravidanza morte".split()
)
_ENDINGS = (
    *("diagnose", "diagnosen", "einkommen", "gehalt", "lohn", "erkrankung", "erkrankungen"),
    *("krankheit", "medikation", "therapie", "befund", "datum", "jahr", "adresse"),
)
"""Last parts of German compounds that mean the same alone: a Hauptdiagnose is a Diagnose."""
_FAMILY_OF = {word: family for family, words in _FAMILIES.items() for word in words.split()}


@dataclass(frozen=True)
class Sound:
    """The name of a column, and what its words suggest."""

    name: str

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the name: `PatientID` and `patient_id` are both patient and id.

        Neighbours in one word are among them, and so is the whole name: `e-mail` is an email. So
        are the last parts of compounds.
        """
        pairs = (first + second for first, second in pairwise(self._split))
        last = (end for part in self._split for end in _ENDINGS if part.endswith(end))
        return self._parts | {"".join(self._split), *pairs, *last}

    @cached_property
    def _split(self) -> tuple[str, ...]:
        letters = unicodedata.normalize("NFKD", self.name.translate(_PLAIN))
        plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
        parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", plain)
        return tuple(part.lower() for part in parts)

    @cached_property
    def _parts(self) -> frozenset[str]:
        """The words without fillers, unless there is nothing else."""
        return frozenset(self._split) - _FILLERS or frozenset(self._split)

    @property
    def number_of_person(self) -> bool:
        """A number that names a person: `ssn`, `patient_id`, `Patientennummer`."""
        return bool(self.words & (_PERSONAL_NUMBERS | _NUMBERS_OF_PERSONS)) or self._number_of(
            _PERSONS
        )

    @property
    def number_of_case(self) -> bool:
        """A number of a file, an account, a card or a case: `numero_dossier`, `Fallnummer`."""
        return bool(self.words & _NUMBERS_OF_CASES) or self._number_of(_CASES)

    @property
    def number_alone(self) -> bool:
        """A number, of what it does not say: `id`, `Nr`."""
        return bool(self._parts) and self._parts <= _NUMBERS

    @property
    def maybe_person(self) -> bool:
        """A number or a name, which may be a person's; but no place, time or disease."""
        likely = _NUMBERS | _NAMES | {"patient", "person", "customer", "account", "license"}
        other = self.family or self.sensitive or self.words & _ALSO_KNOWN
        return bool(self.words & likely) and not other

    @property
    def contact(self) -> bool:
        """How to reach or find a person: an address, an e-mail, a telephone number."""
        return bool(self.words & _CONTACTS)

    @property
    def name_of_person(self) -> bool:
        """A person's name, and no name of anything else."""
        return bool(self._parts & _NAMES) and self._parts <= _NAMES | _PERSONS

    @property
    def sensitive(self) -> bool:
        """What a person would not want known."""
        return bool(self.words & _SENSITIVE)

    @property
    def family(self) -> str | None:
        """Whether it is about a person's birth, sex, place or origin, which seldom change."""
        found = (_FAMILY_OF[word] for word in self._split if word in _FAMILY_OF)
        return next(found, _FAMILY_OF.get("".join(self._split)))

    @property
    def known(self) -> bool:
        """What others may know."""
        return self.family is not None or bool(self.words & (_ALSO_KNOWN | _EVENTS))

    def _number_of(self, owners: frozenset[str]) -> bool:
        """Whether several words say that it is a number of one of these, and nothing else."""
        numbers = _NUMBERS | _CODES
        both = self._parts & owners and self._parts & numbers
        return bool(both) and self._parts <= numbers | _PERSONS | _CASES


UNLIKE = 0.2
"""Records are alike when they differ at most in this share of the cases they would by chance."""
SPREAD = 0.25
"""And when there are at most so many more pairs with another column than values, as a share."""
ENOUGH = 20
"""So many cases there must be by chance before anything is concluded."""


def alike(
    first: Iterable[int], second: Iterable[int], distinct_pairs: Callable[[int], int]
) -> bool:
    """Whether records with the same value of the first column mostly have one of the second.

    Both columns are given as the records of each of their values. `distinct_pairs` counts distinct
    pairs of the two, or returns one more than its limit.

    If the columns had nothing to do with each other, n records with one value would have
    sum(1 - (1 - p) ** n) different ones of the second column, over its shares p.
    """
    sizes, others = Counter(first), Counter(second)
    values, records = sizes.total(), sum(size * number for size, number in others.items())
    chance = sum(
        number * many * (1 - (1 - count / records) ** size)
        for size, number in sizes.items()
        for count, many in others.items()
    )
    by_chance = chance - values
    most = values + int(min(UNLIKE * by_chance, SPREAD * values))
    return by_chance >= ENOUGH and distinct_pairs(most) <= most
