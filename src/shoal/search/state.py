"""All memory of one explorer as two compiled structs, which kernels pass by reference.

Passing some fifty arrays from kernel to kernel one by one would dominate the compile time.
"""

from __future__ import annotations

from numba import types
from numba.experimental import structref

from shoal.search.demands import Values
from shoal.search.memory import FIELDS


@structref.register
class StateType(types.StructRef):
    """The compiled type: a field for each array and number."""


@structref.register
class SensitiveType(types.StructRef):
    """The same for the sensitive values and the demands on them."""


class State:
    """Made inside a kernel by `State(*memory, sensitive, class_loss)`."""


class Sensitive:
    """Made inside a kernel by `Sensitive(*values)`."""


structref.define_constructor(State, StateType, FIELDS)  # type: ignore[no-untyped-call]
structref.define_constructor(Sensitive, SensitiveType, Values._fields)  # type: ignore[no-untyped-call]
