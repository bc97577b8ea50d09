"""Random tables with typed columns, released from anywhere to anywhere: each release is safe."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import shoal
from prove.judge import Asked, Demand, Grid, faults
from prove.places import any_place, frame, read_frame
from prove.tables import SERIAL, Table, table
from prove.trial import Failed, Trial, given_by

HIERARCHIES: dict[str, list[Any]] = {
    "integer": [{"intervals": [10, 100]}, {"mask": [1, 3]}],
    "number": [{"intervals": [10, 100]}],
    "decimal": [{"intervals": [5, 50]}, {"cuts": [[0, 2, 20], [2]]}],
    "truth": [],
    "day": [{"date": ["month", "year"]}],
    "moment": [{"date": ["day", "year"]}],
    "text": [{"mask": [1, 2]}, {"groups": [2, 4]}],
}


def attack(trial: Trial) -> None:
    """Make a table and a definition, release it, and judge what is stored."""
    chance = trial.chance
    quasi = ["q1", "q2", "q3"][: chance.randint(1, 3)]
    others = ["s1", "kept", "gone"]
    made = table(chance, [*quasi, *others], persons=chance.random() < 0.3)
    asked, keys = demanded(chance, made, quasi)
    if chance.random() < 0.4:
        source, release = _through_memory(chance, made, keys)
    else:
        source, release = _through_places(trial, made, keys)
    wrong = faults(asked, source, release)
    if wrong:
        raise Failed("; ".join(wrong[:5]))


def _through_memory(chance: Random, made: Table, keys: dict[str, Any]) -> tuple[Grid, Grid]:
    given = frame(chance, made)
    before = read_frame(given)
    rest = {key.replace(" ", "_"): value for key, value in keys.items()}
    attributes = rest.pop("attributes")
    quasi = {n: dict(a) for n, a in attributes.items() if _role(a) == "quasi-identifier"}
    rest["attributes"] = {n: a for n, a in attributes.items() if n not in quasi}
    for attribute in quasi.values():
        del attribute["role"]
    wanted = {name: attribute or None for name, attribute in quasi.items()}
    release = given_by(lambda: shoal.anonymize(given, wanted, **rest))
    if repr(read_frame(given)) != repr(before):
        raise Failed("the frame of the caller was changed")
    if type(release) is not type(given):
        raise Failed(f"{type(given)} became {type(release)}")
    return before, read_frame(release)


def _role(attribute: Any) -> str:
    return str(attribute["role"]) if isinstance(attribute, dict) else str(attribute)


def _through_places(trial: Trial, made: Table, keys: dict[str, Any]) -> tuple[Grid, Grid]:
    source = any_place(trial.chance, trial.folder, trial.postgres, "source")
    output = any_place(trial.chance, trial.folder, trial.postgres, "output")
    source.write(trial.chance, made)
    before = source.read()
    given_by(lambda: shoal.run({"source": source.named, "output": output.named, **keys}))
    if repr(source.read()) != repr(before):
        raise Failed("the source was changed")
    return before, output.read()


def demanded(chance: Random, made: Table, quasi: list[str]) -> tuple[Asked, dict[str, Any]]:
    """Random demands, for the judge and as keys of a definition."""
    kinds = {column.name: column.kind for column in made.columns}
    attributes: dict[str, Any] = {"gone": chance.choice(["drop", "identifier"])}
    for name in quasi:
        attributes[name] = _quasi_identifier(chance, kinds[name])
    sensitive, kept = {}, []
    if chance.random() < 0.5:
        sensitive["s1"], attributes["s1"] = _demand(chance)
    for name in (SERIAL, "kept", "s1"):
        if name not in attributes:
            attributes[name] = "keep"
            kept.append(name)
    person = "person" if "person" in kinds else None
    if person is None and chance.random() < 0.2:
        attributes[SERIAL] = "drop"
        kept.remove(SERIAL)
    count = len(made.rows)
    suppression = chance.choice([0, chance.randint(0, count // 2), "10%", "35%"])
    marked, basic = chance.random() < 0.4, chance.random() < 0.15
    spellings = chance.choice([[], ["?"], ["?", "NA"]])
    asked = Asked(
        k=chance.randint(2, 4),
        quasi=tuple(quasi),
        sensitive=sensitive,
        kept=tuple(kept),
        suppression=_share(suppression),
        marked=marked,
        basic=basic,
        missing=frozenset(spellings),
        person=person,
    )
    keys: dict[str, Any] = {"k": asked.k, "suppression": suppression, "attributes": attributes}
    keys["suppressed"] = "mark" if marked else "drop"
    keys["missing"] = {"match": "basic" if basic else "extended", "values": spellings}
    if person is not None:
        keys["person"] = person
        attributes[person] = "identifier"
    return asked, keys


def _share(suppression: Any) -> int | Fraction:
    if isinstance(suppression, str):
        return Fraction(suppression.rstrip("%")) / 100
    return int(suppression)


def _quasi_identifier(chance: Random, kind: str) -> dict[str, Any]:
    attribute: dict[str, Any] = {"role": "quasi-identifier"}
    hierarchy = chance.choice([None, "suppress", *HIERARCHIES[kind]])
    if hierarchy is not None:
        attribute["hierarchy"] = hierarchy
    if chance.random() < 0.4:
        attribute["limit"] = chance.choice([0, 0, 1])
    return attribute


def _demand(chance: Random) -> tuple[Demand, dict[str, Any]]:
    attribute: dict[str, Any] = {"role": "sensitive"}
    if chance.random() < 0.7:
        least = chance.randint(2, 3)
        return Demand(distinct=least), {**attribute, "diversity": {"distinct": least}}
    share = chance.choice(["0.6", "0.9"])
    # A class without any recorded value meets no demand, so it has one at least.
    return Demand(1, Fraction(share)), {**attribute, "alpha": float(share)}
