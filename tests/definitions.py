"""Definitions of every key, made by hypothesis: valid by the model, whatever several keys say."""

from __future__ import annotations

import string
from typing import Any

from hypothesis import strategies as st

from shoal.definition.model import Definition

texts = st.text(
    st.characters(
        codec="utf-8", exclude_categories=("Cc", "Cs"), include_characters="\t\n\r"
    ).filter(lambda c: c not in "\ufffe\uffff"),
    min_size=1,
    max_size=8,
) | st.sampled_from(
    ["null", "~", "no", "007", "1e3", "a: b", "# c", "<d>", "&amp;", "]]>", " e ", "\n", "5%", "*"]
)
words = st.text(string.ascii_lowercase, min_size=1, max_size=6)
paths = st.text("abc xyz_-%&<'\"", min_size=1, max_size=8).map(lambda name: f"data/_{name}.csv")
numbers = st.floats(allow_nan=False, allow_infinity=False)
above_zero = st.floats(1e-300, 1e300)
counts = st.integers(1, 10**9)
values: st.SearchStrategy[Any] = st.recursive(
    texts | st.integers() | st.booleans() | numbers,
    lambda below: (
        st.lists(below, max_size=2) | st.dictionaries(words, below | st.none(), max_size=2)
    ),
    max_leaves=4,
)
parameters = st.dictionaries(words, values | st.none(), max_size=2)
models = st.dictionaries(words, parameters, max_size=2)


def keys(
    required: dict[str, st.SearchStrategy[Any]], **optional: st.SearchStrategy[Any]
) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping with all of the required and some of the other keys, `_` means a space."""
    others = {key.rstrip("_").replace("_", " "): value for key, value in optional.items()}
    return st.fixed_dictionaries(required, optional=others)


def one(key: str, value: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    return {key: value}


labels = texts.filter(bool)
trees = st.recursive(
    st.lists(labels, min_size=1, max_size=3) | labels | st.none(),
    lambda below: st.dictionaries(labels, below, min_size=1, max_size=3),
    max_leaves=6,
).flatmap(lambda below: st.dictionaries(labels, st.just(below), min_size=1, max_size=2))
hierarchies = st.one_of(
    st.just("suppress"),
    keys(one("path", paths), delimiter=st.sampled_from([",", "\t", " "])),
    keys(one("mask", st.lists(counts, max_size=3) | st.integers(1, 9)), from_=st.just("left")),
    keys(
        one("intervals", st.lists(numbers, max_size=3)), origin=numbers, bottom=numbers, top=numbers
    ),
    keys(one("cuts", st.lists(st.lists(numbers, max_size=3), min_size=1, max_size=3))),
    keys(one("date", st.lists(st.sampled_from(["day", "year"]), max_size=2)), format=texts),
    keys(one("groups", st.lists(counts, max_size=3)), order=st.sampled_from(["text", "number"])),
    keys(one("tree", trees)),
    keys(one("builder", words), parameters=parameters),
)
attribute = keys(
    one("role", st.sampled_from(["identifier", "quasi-identifier", "sensitive", "keep", "drop"])),
    hierarchy=hierarchies,
    from_=counts,
    limit=counts,
    priority=above_zero,
    information_loss=st.lists(numbers, min_size=1, max_size=3),
    diversity=keys(
        {},
        distinct=st.integers(2, 9),
        entropy=st.floats(1.01, 9),
        recursive=keys({"c": above_zero, "l": st.integers(2, 9)}),
    ).filter(bool),
    closeness=keys(one("t", st.floats(0, 1)), distance=st.sampled_from(["ordered", "equal"])),
    alpha=st.floats(0.01, 0.99),
    likeness=keys(one("beta", above_zero), enhanced=st.booleans()),
    disclosure=above_zero,
    privacy=models,
)
renames = st.dictionaries(texts, words, max_size=2).filter(
    lambda names: len(set(names.values())) == len(names)
)
source = st.one_of(
    paths,
    st.just({"path": "s3://bucket/patients.csv"}),
    keys(
        one("path", paths),
        format=st.sampled_from(["csv", "json"]),
        delimiter=st.sampled_from([";", "\t", " "]),
        quote=st.sampled_from(["", "'"]),
        encoding=words,
        header=st.booleans() | st.integers(1, 10**6),
        decimal=st.sampled_from([",", "."]),
        rename=renames,
    ),
    keys(
        {"path": paths, "format": st.just("xml")},
        options=st.dictionaries(st.sampled_from(["row", "fields"]), texts),
        columns=st.lists(texts, max_size=2, unique=True),
    ),
    keys({"url": texts, "table": texts}, rename=renames),
    keys({"url": texts, "query": texts}),
    keys(one("spark", texts), format=st.just("orc"), master=texts),
)
sources = source | st.lists(source, min_size=2, max_size=3)
outputs = st.one_of(
    paths,
    keys(one("path", paths), format=st.just("csv"), delimiter=st.sampled_from([";", "\t"])),
    keys(
        {"path": paths, "format": st.just("parquet")},
        partition_by=st.lists(texts, max_size=2),
        file_size=counts,
    ),
    keys({"path": paths, "format": st.just("xml")}, options=st.just({"row": "a"})),
    keys({"url": texts, "table": texts}, replace=st.just(True)),
    keys(one("spark", texts), format=st.just("orc"), master=texts, replace=st.just(True)),
)
definitions = keys(
    {
        "source": sources,
        "k": st.integers(2, 10**9),
        "attributes": st.dictionaries(texts, attribute, max_size=3),
    },
    output=outputs,
    report=paths,
    suppression=st.floats(0, 1) | counts,
    suppressed=st.sampled_from(["drop", "mark"]),
    person=st.lists(texts, max_size=2),
    population=keys(
        {"source": sources, "k": st.integers(2, 10**9)},
        presence=st.tuples(st.floats(0, 0.5), st.floats(0.5, 1)).map(list),
    ),
    risk=keys(
        {},
        average=st.floats(0.001, 1),
        records_above=keys({"threshold": st.floats(0.001, 0.99), "share": st.floats(0, 0.99)}),
    ).filter(bool),
    strict=st.booleans(),
    missing=keys(
        {},
        match=st.sampled_from(["extended", "basic"]),
        values=st.lists(texts | st.just(""), max_size=3),
        sensitive=st.just("value"),
    ),
    recoding=st.sampled_from(["full-domain", "local"]),
    loss=keys({}, name=words, aggregate=st.just("geometric"), parameters=parameters),
    search=keys(
        {},
        strategy=words,
        time_limit=st.integers(1, 10**6).map(lambda ms: f"{ms} ms"),
        gap=st.floats(0, 1),
        threads=counts,
        effort=st.sampled_from(["low", "normal", "high"]),
        backtrack=st.booleans(),
        parameters=parameters,
    ),
    engine=keys(
        {},
        memory_limit=counts.map(lambda number: f"{number} MB"),
        spill_folder=paths,
        threads=st.integers(1, 64),
        tuples=counts,
    ),
    privacy=models,
    others=st.sampled_from(["keep", "drop"]),
).map(Definition.model_validate)
