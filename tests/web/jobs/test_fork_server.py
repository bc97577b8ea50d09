"""The process that workers are forked from has all they need, and stays safe to fork."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

CODE = """
import os, sys, threading
from pathlib import Path
from shoal.web.jobs.fork_server import load_everything

load_everything()
assert threading.active_count() == 1, threading.enumerate()
assert "_search" in Path("/proc/self/maps").read_text()
loaded = set(sys.modules)

import pyarrow as pa
from shoal.definition.demands import loss_of, models_of
from shoal.definition.read import from_mapping
from shoal.encode.table import encode
from shoal.search.incumbent import Limits
from shoal.search.run import problem_of
from shoal.search.strategies.box import BoxSearch

attributes = {"q": {"role": "quasi-identifier", "hierarchy": "suppress"}}
definition = from_mapping({"source": "-", "k": 2, "attributes": attributes})
table = encode(definition, pa.table({"q": ["a", "b"], "records": [2, 2]}))
problem = problem_of(definition, table, models_of(definition), loss_of(definition))
*_, proved = BoxSearch().search(problem, Limits(threads=1))
assert proved.best.node == (0,), proved
late = sorted(name for name in set(sys.modules) - loaded if name.startswith("shoal.search"))
assert not late, late
"""


def test_nothing_is_imported_for_the_first_search_of_a_worker() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
