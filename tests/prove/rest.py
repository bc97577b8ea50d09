"""Requests to the REST API that nobody would send: no server error, and no value in the log."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.web_server import Server, serving

import shoal
from commands import TIME_LIMIT
from prove.trial import CANARY, Failed, Kind, Trial

SCHEMATHESIS = Path(sys.executable).with_name("schemathesis")
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance"
)
OPTIONS = ["--checks", CHECKS, *"--phases examples,fuzzing --max-examples 3".split()]
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


def attack(trial: Trial) -> None:
    """Let schemathesis send what the description of the API allows, and what it does not."""
    folder = trial.folder
    with serving(folder, 1, requests_per_minute=1_000_000) as server:
        config = folder / "schemathesis.toml"
        config.write_text(_with_real_ids(server, folder), encoding="utf-8")
        seed = ["--seed", str(trial.rng.randrange(2**31))]
        done = subprocess.run(
            [SCHEMATHESIS, "--config-file", config, "run", *_address(server), *OPTIONS, *seed],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
        )
    log = (folder / "server.log").read_text(encoding="utf-8")
    if done.returncode != 0 or "No test cases" in done.stdout:
        raise Failed(done.stdout[-3000:] + done.stderr[-1000:])
    if CANARY in log or "Traceback" in log:
        raise Failed(f"in the log of the server: {log[-3000:]}")
    trial.seen["servers attacked"] += 1


def _address(server: Server) -> list[str]:
    token = f"Authorization: Bearer {server.tokens[0]}"
    return [f"{server.base}/api/v1/openapi.json", "--header", token]


def _with_real_ids(server: Server, folder: Path) -> str:
    """A job that is done and an upload, so that requests get further than to their ids."""
    people = folder / "people.csv"
    people.write_text(f"age\n{CANARY}-1\n{CANARY}-1\n{CANARY}-2\n{CANARY}-2\n", encoding="utf-8")
    with shoal.Client(server.base, server.tokens[0]) as client:
        job = client.run(DEFINITION, {"people.csv": people})
        job.wait()
        return CONFIG.format(job=job.id, upload=client.upload(people))


KIND = Kind(
    attack,
    tries="schemathesis sends a few requests for every operation of the REST API of a server that "
    "has a job and an upload, valid ones and others",
    fails="the server answers with an error of its own or in a way that is not described, or its "
    "log has a traceback or a value of the data",
    limits="single requests of one user; sequences and rights are tested in tests/web",
)
