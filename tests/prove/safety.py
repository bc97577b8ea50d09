"""Random tables with typed columns, released from anywhere to anywhere: each release is safe."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import shoal
from prove.arrow import frame, read_frame
from prove.judge import Demands, ValueDemand, faults
from prove.stores import any_store, spark_output, spark_source, united
from prove.tables import SERIAL, Grid, Store, Table, table
from prove.trial import Failed, Kind, Trial, run_or_decline

HIERARCHIES: dict[str, list[Any]] = {
    "integer": [{"intervals": [10, 100]}, {"mask": [1, 3]}],
    "number": [{"intervals": [10, 100]}],
    "decimal": [{"intervals": [5, 50]}, {"cuts": [[0, 2, 20], [2]]}],
    "truth": [],
    "day": [{"date": ["month", "year"]}],
    "moment": [{"date": ["day", "year"]}],
    "text": [{"mask": [1, 2]}, {"groups": [2, 4]}],
}

FAILS = (
    "a class is too small, a demand is not met, too much is suppressed, a column is too many, "
    "or a kept value has changed"
)

ORDERED = ("integer", "decimal")
"""Kinds whose order is plain wherever they are stored."""


def attack(trial: Trial) -> None:
    """Release a table from one store to another, or a frame, and judge what is stored."""
    rng = trial.rng
    made, demands, keys = problem(rng)
    if rng.random() < 0.4:
        source, release = release_frame(rng, made, keys)
    else:
        stores = [any_store(rng, trial.folder, trial.services, name) for name in ("in", "out")]
        if rng.random() < 0.2:
            more = any_store(rng, trial.folder, trial.services, "more")
            stores[0] = united(stores[0], more)
            demands = replace(demands, apart=len(made.rows) // 2)
        source, release = release_table(trial, made, keys, stores[0], stores[1])
    judge(trial, demands, source, release)


def attack_spark(trial: Trial) -> None:
    """The same with Spark as the source, the output or both."""
    rng = trial.rng
    made, demands, keys = problem(rng)
    spark = rng.choice([("in",), ("out",), ("in", "out")])
    source = spark_source(trial.folder / "in")
    if "in" not in spark:
        source = any_store(rng, trial.folder, trial.services, "in")
    output = spark_output(trial.folder / "out", rng.choice(["parquet", "parquet", "json", "csv"]))
    if "out" not in spark:
        output = any_store(rng, trial.folder, trial.services, "out")
    judge(trial, demands, *release_table(trial, made, keys, source, output))


def problem(rng: Random) -> tuple[Table, Demands, dict[str, Any]]:
    """A table, what is demanded of its release, and the same as keys of a definition."""
    quasi = ["q1", "q2", "q3"][: rng.randint(1, 3)]
    made = table(rng, [*quasi, "s1", "kept", "gone"], persons=rng.random() < 0.3)
    return made, *demanded(rng, made, quasi)


def judge(trial: Trial, demands: Demands, source: Grid, release: Grid) -> None:
    """Fail where the outside judge finds a fault; count the release by what was asked of it."""
    wrong = faults(demands, source, release)
    if wrong:
        raise Failed("; ".join(wrong[:5]))
    asked = {
        "local": demands.local,
        "of persons": demands.person is not None,
        "basic match": demands.basic,
        "marked": demands.marked,
        "with sensitive values": bool(demands.sensitive),
    }
    trial.seen.update(["releases judged", *(what for what, holds in asked.items() if holds)])


def release_frame(rng: Random, made: Table, keys: dict[str, Any]) -> tuple[Grid, Grid]:
    """Release a frame; what it held before, and the frame that comes back."""
    original = frame(rng, made)
    before = read_frame(original)
    options = {key.replace(" ", "_"): value for key, value in keys.items()}
    attributes = options.pop("attributes")
    quasi = {n: dict(a) for n, a in attributes.items() if _role(a) == "quasi-identifier"}
    options["attributes"] = {n: a for n, a in attributes.items() if n not in quasi}
    for attribute in quasi.values():
        del attribute["role"]
    hierarchies = {name: attribute or None for name, attribute in quasi.items()}
    release = run_or_decline(lambda: shoal.anonymize(original, hierarchies, **options))
    if repr(read_frame(original)) != repr(before):
        raise Failed("the frame of the caller was changed")
    if type(release) is not type(original):
        raise Failed(f"{type(original)} became {type(release)}")
    return before, read_frame(release)


def _role(attribute: Any) -> str:
    return str(attribute["role"]) if isinstance(attribute, dict) else str(attribute)


def release_table(
    trial: Trial, made: Table, keys: dict[str, Any], source: Store, output: Store
) -> tuple[Grid, Grid]:
    """Release a table; what is stored in the source and in the output."""
    source.write(trial.rng, made)
    before = source.read()
    definition = {"source": source.location, "output": output.location, **keys}
    run_or_decline(lambda: shoal.run(definition, spark=trial.services.spark))
    if repr(source.read()) != repr(before):
        raise Failed("the source was changed")
    return before, output.read()


def demanded(rng: Random, made: Table, quasi: list[str]) -> tuple[Demands, dict[str, Any]]:
    """Random demands, for the judge and as keys of a definition."""
    kinds = {column.name: column.kind for column in made.columns}
    attributes: dict[str, Any] = {"gone": rng.choice(["drop", "identifier"])}
    for name in quasi:
        attributes[name] = _quasi_identifier(rng, kinds[name])
    sensitive, kept = {}, []
    if rng.random() < 0.5:
        sensitive["s1"], attributes["s1"] = _demand(rng, kinds["s1"])
    for name in (SERIAL, "kept", "s1"):
        if name not in attributes:
            attributes[name] = "keep"
            kept.append(name)
    person = "person" if "person" in kinds else None
    compared = any(demand.closeness is not None for demand in sensitive.values())
    if person is None and not compared and rng.random() < 0.2:
        attributes[SERIAL] = "drop"
        kept.remove(SERIAL)
    count = len(made.rows)
    suppression = rng.choice([0, rng.randint(0, count // 2), "10%", "35%"])
    marked, basic = rng.random() < 0.4, rng.random() < 0.3
    spellings = rng.choice([[], ["?"], ["?", "NA"]])
    local = rng.random() < 0.4
    demands = Demands(
        k=rng.randint(2, 4),
        quasi=tuple(quasi),
        sensitive=sensitive,
        kept=tuple(kept),
        suppression=_share(suppression),
        marked=marked,
        basic=basic,
        missing=frozenset(spellings),
        person=person,
        local=local,
    )
    keys: dict[str, Any] = {"k": demands.k, "suppression": suppression, "attributes": attributes}
    keys["recoding"] = "local" if local else "full-domain"
    keys["suppressed"] = "mark" if marked else "drop"
    keys["missing"] = {"match": "basic" if basic else "extended", "values": spellings}
    if person is not None:
        keys["person"] = person
        attributes[person] = "identifier"
    return demands, keys


def _share(suppression: Any) -> int | Fraction:
    if isinstance(suppression, str):
        return Fraction(suppression.rstrip("%")) / 100
    return int(suppression)


def _quasi_identifier(rng: Random, kind: str) -> dict[str, Any]:
    attribute: dict[str, Any] = {"role": "quasi-identifier"}
    hierarchy = rng.choice([None, "suppress", *HIERARCHIES[kind]])
    if hierarchy is not None:
        attribute["hierarchy"] = hierarchy
    if rng.random() < 0.4:
        attribute["limit"] = rng.choice([0, 0, 1])
    return attribute


def _demand(rng: Random, kind: str) -> tuple[ValueDemand, dict[str, Any]]:
    """A demand on a sensitive column: for the judge, and as the attribute of a definition."""
    attribute: dict[str, Any] = {"role": "sensitive"}
    l, share = rng.randint(2, 3), rng.choice(["0.6", "0.9"])
    c, evenly = rng.choice([1, 2, 4]), rng.choice([1.3, 2, 2.5])
    t, ordered = rng.choice(["0.3", "0.5", "0.7"]), kind in ORDERED and rng.random() < 0.6
    distance = "ordered" if ordered else "equal"
    demands: list[tuple[ValueDemand, dict[str, Any]]] = [
        (ValueDemand(distinct=l), {"diversity": {"distinct": l}}),
        (ValueDemand(alpha=Fraction(share)), {"alpha": float(share)}),
        (ValueDemand(entropy=evenly), {"diversity": {"entropy": evenly}}),
        (ValueDemand(recursive=(Fraction(c), l)), {"diversity": {"recursive": {"c": c, "l": l}}}),
        (
            ValueDemand(closeness=Fraction(t), ordered=ordered),
            {"closeness": {"t": float(t), "distance": distance}},
        ),
    ]
    demand, keys = rng.choice([demands[0], *demands])
    return demand, {**attribute, **keys}


SERVERS = frozenset({"postgres", "mariadb"})

SAFETY = Kind(
    attack,
    tries="a random table with typed columns (numbers, decimals, booleans, dates, odd texts, "
    "missing values), random roles and demands, full-domain or local recoding, from one or two "
    "sources, from and to CSV, Parquet, JSON, Excel, XML, SQLite, PostgreSQL, MariaDB or a frame "
    "of pandas, polars or Arrow",
    fails=FAILS,
    limits="tables have 8 to 40 records and up to three quasi-identifiers",
    uses=SERVERS,
)

SPARK = Kind(
    attack_spark,
    tries="the same, with Spark as the source, the output or both",
    fails="as for safety",
    limits="Spark runs in this process, not on a cluster",
    needs=frozenset({"spark"}),
    uses=SERVERS,
)
