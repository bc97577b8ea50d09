"""The process that workers are forked from loads the search, and stays safe to fork."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

CODE = """
import os, threading, time
from shoal.web.jobs.warm import warm_up

warm_up()
assert threading.active_count() == 1, threading.enumerate()
begun = time.process_time()
pid = os.fork()
if pid == 0:
    warm_up()
    os._exit(0 if time.process_time() - begun < 0.2 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, "the search was not loaded"
"""


def test_a_forked_process_has_the_search_and_no_thread_is_left() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
