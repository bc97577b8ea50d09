"""Load what a process needs for its first search, before there is a job that would wait for it.

The search is compiled on first use, which takes up to a minute on a new machine, and is then kept
on disk. Loading it from there takes a second.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from shoal.definition.demands import loss_of, models_of
from shoal.definition.read import from_mapping
from shoal.encode.table import encode
from shoal.engines.base import COUNT
from shoal.search.descent import cache_folder
from shoal.search.incumbent import Limits
from shoal.search.run import problem_of
from shoal.search.strategies.box import BoxSearch

SENSITIVE = ("keep", {"role": "sensitive", "diversity": {"distinct": 2}})
"""The compiled code differs by whether a model looks at the values of a class."""


def is_kept() -> bool:
    """Whether compiled code is kept on disk, so that another process can compile it."""
    return cache_folder() is not None


def warm_up() -> None:
    """Search a tiny table in each way, without an engine: that would start threads."""
    for role in SENSITIVE:
        attributes: dict[str, Any] = {
            "q": {"role": "quasi-identifier", "hierarchy": "suppress"},
            "s": role,
        }
        definition = from_mapping({"source": "-", "k": 2, "attributes": attributes})
        rows = {name: ["a", "b", "a", "b"] for name in ("q", *definition.sensitive)}
        table = pa.table({**rows, COUNT: pa.array([1, 1, 1, 1], pa.int64())})
        encoded = encode(definition, table)
        problem = problem_of(definition, encoded, models_of(definition), loss_of(definition))
        for _ in BoxSearch(compiled_from=0).search(problem, Limits(threads=1)):
            pass
