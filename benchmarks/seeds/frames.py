"""Problems on tables that a generator made."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from shoal.definition.demands import loss_of, models_of
from shoal.definition.read import from_mapping
from shoal.encode.table import encode
from shoal.engines.frames.source import open_frame
from shoal.search.run import problem_of

if TYPE_CHECKING:
    import pyarrow as pa

    from shoal.search.problem import Problem


def problem_on(frame: pa.Table, definition: Mapping[str, Any]) -> Problem:
    """What a definition without a source asks of a frame."""
    stated = from_mapping({"source": "frame", "output": "release.csv", **definition})
    with closing(open_frame(frame)) as source:
        counted = source.count_by(stated.quasi_identifiers + stated.sensitive, ())
    return problem_of(stated, encode(stated, counted), models_of(stated), loss_of(stated))
