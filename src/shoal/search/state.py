"""All memory of one explorer as a single compiled value, which kernels hand on by reference.

Handing some fifty arrays from kernel to kernel one by one would take most of the time that
compiling takes.
"""

from __future__ import annotations

from numba import types
from numba.experimental import structref

from shoal.search.memory import FIELDS


@structref.register
class StateType(types.StructRef):
    """The compiled type: a field for each array and number."""


class State:
    """Made inside a kernel by `State(*memory)`."""


structref.define_constructor(State, StateType, FIELDS)  # type: ignore[no-untyped-call]
