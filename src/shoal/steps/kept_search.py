"""A search for a local recoding that is kept in a file, so that a later run releases what it found.

A full-domain search is summed up by one level for each column. A local recoding has the class of
every tuple, and a search that a person or a time limit ended finds another one the next time. So a
person who saw one and accepts it needs exactly that one.

The file says on which table and for which definition it was found. `KeptSearch.last` refuses any
other one, forms the classes anew from the labels of the table, and lets the models judge them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.engines.failures import source_changed
from shoal.events import Proved, Stopped
from shoal.recoding.local.solution import LocalBest, judge, recoding_of
from shoal.values import Moment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from shoal.events import Progress
    from shoal.steps.releasing import Prepared
    from shoal.values import Ints

NOT_COMPARED = {"source", "output", "report", "search", "engine"}
"""Keys of a definition that say where and how, and not what a recoding must be."""


@dataclass(frozen=True, eq=False)
class KeptSearch:
    """The best local recoding of a search, and how that search ended.

    `group_of` has the class of each tuple from 1 on, 0 for suppressed ones; `levels` a row for each
    of these. `reason` is why the search ended, None where it proved that no recoding is better.
    """

    made_for: str
    group_of: Ints
    levels: NDArray[np.uint8]
    bound: float
    checked: int
    boxes: int
    seconds: float
    reason: str | None
    moments: tuple[Moment, ...]

    def last(self, prepared: Prepared, name: str) -> Progress:
        """The last event of the search; BadData if the source, called `name`, is another one."""
        problem = prepared.problem
        if self.made_for != _digest(prepared):
            raise source_changed(name)
        best = judge(problem, recoding_of(problem.table, self.group_of, self.levels))
        if best is None:
            raise source_changed(name)
        numbers = (best, min(self.bound, best.loss), self.checked, self.boxes, self.seconds)
        return Proved(*numbers) if self.reason is None else Stopped(*numbers, reason=self.reason)


def kept_search(prepared: Prepared, last: Progress, moments: Sequence[Moment]) -> KeptSearch:
    """What a search for a local recoding found, by its last event."""
    best = last.best
    assert isinstance(best, LocalBest)  # noqa: S101
    recoding, unused = best.recoding, np.zeros((1, len(prepared.table.attributes)))
    return KeptSearch(
        made_for=_digest(prepared),
        group_of=recoding.class_of + 1,
        levels=np.vstack([unused, recoding.levels]).astype(np.uint8),
        bound=last.bound,
        checked=last.checked,
        boxes=last.boxes,
        seconds=last.seconds,
        reason=last.reason if isinstance(last, Stopped) else None,
        moments=tuple(moments),
    )


def write_kept_search(kept: KeptSearch, path: Path) -> None:
    """Write a search to a file."""
    about = {
        key: value for key, value in vars(kept).items() if key not in ("group_of", "levels")
    } | {"moments": [asdict(each) for each in kept.moments]}
    with path.open("wb") as file:
        np.savez_compressed(
            file, group_of=kept.group_of, levels=kept.levels, about=np.array(json.dumps(about))
        )


def read_kept_search(path: Path) -> KeptSearch:
    """The search in a file that `write_kept_search` wrote."""
    with np.load(path, allow_pickle=False) as found:
        about: dict[str, Any] = json.loads(str(found["about"]))
        moments = tuple(Moment(**each) for each in about.pop("moments"))
        return KeptSearch(
            group_of=found["group_of"], levels=found["levels"], moments=moments, **about
        )


def _digest(prepared: Prepared) -> str:
    """A text that is equal for equal tables, hierarchies and demands."""
    demands = prepared.definition.model_dump(mode="json", exclude=NOT_COMPARED)
    found = hashlib.sha256(json.dumps(demands, sort_keys=True, default=str).encode())
    table = prepared.table
    for attribute, codes in zip(table.attributes, table.codes, strict=True):
        found.update(json.dumps(attribute.hierarchy.labels).encode())
        for groups in attribute.groups:
            found.update(groups.tobytes())
        found.update(codes.tobytes())
    found.update(table.weights.tobytes())
    return found.hexdigest()
