"""C structures of arrays and numbers, made from one list of fields.

A `Field` names an array, its type and its shape, in names of sizes. From a list of them come both
the NumPy arrays and the ctypes structure that points to them, so the two cannot differ. The structs
in C have the same fields in the same order.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shoal.errors import Bug

Arrays = dict[str, NDArray[Any]]


class Array(ctypes.Structure):
    """An array in C: where its first element is, and how many it has."""

    _fields_ = (("at", ctypes.c_void_p), ("length", ctypes.c_int64))


class Field(NamedTuple):
    """An array: its name, the type of its elements, and the names of its sizes."""

    name: str
    dtype: Any
    sizes: tuple[str, ...]


def field(name: str, dtype: Any, *sizes: str) -> Field:
    """A field of the list."""
    return Field(name, np.dtype(dtype), sizes)


@dataclass(frozen=True)
class Layout:
    """The fields of a C structure: numbers of 64 bits, arrays, and pointers, in this order."""

    name: str
    numbers: tuple[str, ...]
    arrays: tuple[Field, ...]
    pointers: tuple[str, ...] = ()

    @cached_property
    def structure(self) -> type[ctypes.Structure]:
        """The ctypes structure."""
        fields = (
            *((name, ctypes.c_int64) for name in self.numbers),
            *((each.name, Array) for each in self.arrays),
            *((name, ctypes.c_void_p) for name in self.pointers),
        )
        return type(self.name, (ctypes.Structure,), {"_fields_": fields})

    def check(self, library: ctypes.CDLL, size: str) -> None:
        """A bug unless the structure in C has the same size, which a function of this name says."""
        function = library[size]
        function.restype = ctypes.c_int64
        if function() != ctypes.sizeof(self.structure):
            raise Bug(f"the compiled search has another layout of {self.name}", code="bug")

    def allocate(self, sizes: Mapping[str, int], given: Mapping[str, Any]) -> Arrays:
        """An array for each field: the one given, in the type of the field, or one of zeros.

        Zeros cost nothing until they are written: the system provides their memory on first use.
        """
        found: Arrays = {}
        for each in self.arrays:
            shape = tuple(sizes[name] for name in each.sizes)
            if each.name in given:
                found[each.name] = np.ascontiguousarray(given[each.name], each.dtype)
            else:
                found[each.name] = np.zeros(shape, each.dtype)
            if found[each.name].shape != shape:
                message = f"{each.name} has shape {found[each.name].shape}, not {shape}"
                raise ValueError(message)
        return found

    def bytes(self, sizes: Mapping[str, int], given: Collection[str] = ()) -> int:
        """How many bytes `allocate` would take, without the arrays that are given."""
        return sum(
            each.dtype.itemsize * math.prod(sizes[name] for name in each.sizes)
            for each in self.arrays
            if each.name not in given
        )

    def fill(self, numbers: Mapping[str, int], arrays: Arrays) -> Any:
        """A structure with these numbers that points to these arrays, which must outlive it."""
        made: Any = self.structure()
        for name in self.numbers:
            setattr(made, name, int(numbers[name]))
        for each in self.arrays:
            array = arrays[each.name]
            if array.dtype != each.dtype or not array.flags.c_contiguous:
                message = f"{each.name} is not a plain array of {each.dtype}"
                raise ValueError(message)
            setattr(made, each.name, Array(array.ctypes.data, math.prod(array.shape)))
        return made
