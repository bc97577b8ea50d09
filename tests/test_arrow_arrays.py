"""Conversions between Arrow, texts and NumPy are those of pyarrow, without its import of pandas."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.arrow_arrays import from_numpy, from_texts, scalar, to_numpy

NUMBERS = (np.int8, np.int32, np.int64, np.uint8, np.uint32, np.uint64, np.float64)


@given(st.lists(st.none() | st.text()))
def test_texts_become_the_array_that_pyarrow_makes(texts: list[str | None]) -> None:
    found = from_texts(texts)
    found.validate(full=True)
    assert found.equals(pa.array(texts, pa.string()))
    assert from_texts(tuple(texts)).null_count == texts.count(None)


@given(st.lists(st.integers(0, 100)), st.sampled_from(NUMBERS), st.integers(1, 3))
def test_numbers_go_there_and_back(values: list[int], kind: type[Any], step: int) -> None:
    given = np.array(values, kind)[::step]
    found = from_numpy(given)
    found.validate(full=True)
    assert found.equals(pa.array(given))
    back = to_numpy(found)
    assert back.dtype == given.dtype
    assert back.tolist() == given.tolist()


@given(st.lists(st.booleans()), st.integers(0, 9))
def test_truth_values_go_there_and_back(values: list[bool], start: int) -> None:
    found = from_numpy(np.array(values, bool))
    found.validate(full=True)
    assert found.equals(pa.array(values, pa.bool_()))
    back = to_numpy(found.slice(start))
    assert back.dtype == np.bool_
    assert back.tolist() == values[start:]


@given(st.lists(st.lists(st.integers(-5, 5))), st.integers(0, 3))
def test_chunks_become_one_array(chunks: list[list[int]], start: int) -> None:
    column = pa.chunked_array([pa.array(each, pa.int32()) for each in chunks], pa.int32())
    back = to_numpy(column.slice(start))
    assert back.dtype == np.int32
    assert back.tolist() == [number for each in chunks for number in each][start:]


def test_nulls_are_what_pyarrow_makes_of_them() -> None:
    assert np.isnan(to_numpy(pa.array([1, None]))).tolist() == [False, True]


def test_a_scalar_has_the_type_it_is_given() -> None:
    assert scalar(3, np.int32).equals(pa.scalar(3, pa.int32()))


def test_texts_that_are_no_unicode_are_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        from_texts(["\ud800"])


def test_pandas_is_not_imported() -> None:
    code = (
        "import sys, numpy as np\n"
        "from shoal.arrow_arrays import *\n"
        "to_numpy(from_numpy(np.arange(3))), to_numpy(from_numpy(np.zeros(3, bool)))\n"
        "from_texts(['a', None]), scalar(1, np.int32)\n"
        "print('pandas' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
