"""Requests that nobody would send cause no server error, and get the answers that are described."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.web_server import Server, serving

import shoal

pytestmark = pytest.mark.slow

SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance"
)
OPTIONS = ["--checks", CHECKS, *"--phases examples,fuzzing --max-examples 3 --seed 7".split()]
CONFIG = """
[[operations]]
include-path-regex = "^/api/v1/jobs/"
parameters = {{ "id" = "{job}" }}

[[operations]]
include-path-regex = "^/api/v1/uploads/"
parameters = {{ "id" = "{upload}" }}
"""
DEFINITION = {
    "source": "people.csv",
    "k": 2,
    "attributes": {"age": {"role": "quasi-identifier", "hierarchy": "suppress"}},
}


def test_schemathesis_finds_no_server_error_and_no_answer_that_is_not_described(
    tmp_path: Path,
) -> None:
    with serving(tmp_path, 1, requests_per_minute=1_000_000) as server:
        config = tmp_path / "schemathesis.toml"
        config.write_text(_with_real_ids(server, tmp_path), encoding="utf-8")
        done = subprocess.run(
            [SCHEMATHESIS, "--config-file", config, "run", *_address(server), *OPTIONS],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "No test cases" not in done.stdout


def _address(server: Server) -> list[str]:
    token = f"Authorization: Bearer {server.tokens[0]}"
    return [f"{server.base}/api/v1/openapi.json", "--header", token]


def _with_real_ids(server: Server, folder: Path) -> str:
    """A job that is done and an upload, so that requests get further than to their ids."""
    people = folder / "people.csv"
    people.write_text("age\n30\n30\n40\n40\n", encoding="utf-8")
    with shoal.Client(server.base, server.tokens[0]) as client:
        job = client.run(DEFINITION, {"people.csv": people})
        job.wait()
        return CONFIG.format(job=job.id, upload=client.upload(people))
