"""How much memory a search may take, known before it begins; where less is allowed it is refused.

The compiled searches allocate all they can ever use at once, so the estimate is the sum of their
arrays. It is never exceeded by them, and up to some three times what a search that ends early
touches: the system provides memory when it is first written. `docs/guides/large-tables.md` has the
numbers that were measured.

Only the searches of this package that are compiled are estimated: strategies in NumPy keep what
they know of nodes, which nobody can tell before.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shoal.collapse.read import memory_of
from shoal.errors import BadData
from shoal.search.compiled.library import is_compiled

if TYPE_CHECKING:
    from shoal.definition.model import Search
    from shoal.search.problem import Problem
    from shoal.steps.releasing import Prepared

SURE_OF_A_TUPLE = 2**16
"""More bytes than a thread takes for a tuple in any case: below it nothing is computed."""

CHECK_OF_A_TUPLE = 96
"""Bytes of a tuple while the classes of a candidate are counted exactly, beside the threads."""


def within_memory(prepared: Prepared) -> Search:
    """The options of the search, with no more threads than memory has room for.

    A number of threads that the definition states is not changed: it is refused where it does not
    fit, and so is a table for which not even one thread does.
    """
    options, problem = prepared.definition.search, prepared.problem
    threads = options.threads or os.cpu_count() or 1
    allowed = memory_of(prepared.definition)
    local = prepared.definition.recoding == "local"
    if problem.table.tuples * SURE_OF_A_TUPLE * threads <= allowed:
        return options
    if not is_compiled() or not (local or options.strategy == "box"):
        return options
    shared, each = needs(problem, local=local)
    room = (allowed - shared) // each
    if room >= threads:
        return options
    if room < 1 or options.threads is not None:
        raise _too_little(prepared, shared + each * (options.threads or 1), allowed, room)
    return options.model_copy(update={"threads": room})


def needs(problem: Problem, *, local: bool) -> tuple[int, int]:
    """The bytes that a search takes once, and in each thread."""
    from shoal.search.compiled.layout import fits, prepare
    from shoal.search.compiled.memory import bytes_of_thread

    table = problem.table
    shared, each = table.tuples * CHECK_OF_A_TUPLE, 1
    if fits(problem):
        prepared = prepare(problem)
        arrays = (*prepared.tables, prepared.codes, prepared.weights, prepared.masks)
        shared += sum(getattr(array, "nbytes", 0) for array in arrays)
        each = bytes_of_thread(prepared)
    if local:
        from shoal.recoding.local.memory import bytes_of

        shared += bytes_of(problem)
    return shared, each


def _too_little(prepared: Prepared, needed: int, allowed: int, room: int) -> BadData:
    fewer = f"`search: {{threads: {room}}}` fits; or " if room >= 1 else ""
    return BadData(
        f"the search of {prepared.table.tuples:,} combinations may need {_shown(needed)} of "
        f"memory, and {_shown(allowed)} are allowed",
        code="search-needs-memory",
        hint=f"{fewer}begin at coarser levels with `from`, name fewer quasi-identifiers, or allow "
        "more with `engine: {memory limit: 8 GB}`",
    )


def _shown(number: int) -> str:
    """A number of bytes as people read it."""
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.1f} MB"
