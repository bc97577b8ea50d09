"""A large upload does not pass through the memory of the server."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.web_server import serving
from benchmarks.web_upload import upload

pytestmark = pytest.mark.slow


def test_the_memory_of_the_server_stays_flat_while_a_file_is_uploaded(tmp_path: Path) -> None:
    with serving(tmp_path, 1) as server:
        seen = upload(server, tmp_path, 100)
    assert seen.size > 90_000_000
    assert seen.most - seen.before < 25 * 2**20
