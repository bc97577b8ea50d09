"""`shoal.Client`: everything that a Shoal server does, from Python.

    with shoal.Client("https://shoal.example", token) as client:
        job = client.run("patients.yaml", ["patients.csv"])
        job.wait(print)
        job.save_release("release.csv")

The data stays on the server: only the release comes back. Errors are those of `shoal.run`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from shoal.client.mart import RemoteMart
from shoal.client.session import Session, Unreachable
from shoal.errors import BadData, BadDefinition, Mistake, rebuilt

ENDED = ("done", "failed", "cancelled", "interrupted")
BLOCK = 2**20
"""Bytes of a file that are sent at a time."""
PATIENCE = 60.0
"""Seconds for which a server that is being restarted is asked again."""

Files: TypeAlias = "Mapping[str, str | Path] | Iterable[str | Path]"
Progress: TypeAlias = "Callable[[Event], object]"
DefinitionFile: TypeAlias = "Mapping[str, object] | str | Path"
"""A mapping with the keys of a definition file, or the path of one."""


@dataclass(frozen=True)
class Event:
    """Something that happened in a job: its number, its name and its data."""

    number: int
    name: str
    data: Mapping[str, Any]


@dataclass(frozen=True)
class RemoteJob:
    """A job on a server.

    `wait` returns when it is done and raises the error of one that failed. Closing the client or
    ending the program does not end it: `Client.job` finds it again by its id.
    """

    client: Client
    id: str

    def state(self) -> str:
        """waiting, running, done, failed, cancelled or interrupted."""
        return str(self.about()["state"])

    def about(self) -> dict[str, Any]:
        """All that the server says about the job: task, state, times, progress and problem."""
        about: dict[str, Any] = self.client.json("GET", f"/jobs/{self.id}")
        return about

    def events(self, after: int = 0) -> Iterator[Event]:
        """Each event as it comes, until the job has ended, also when the server is restarted."""
        silent_since = time.monotonic()
        while True:
            try:
                for event in self._events(after):
                    after, silent_since = event.number, time.monotonic()
                    yield event
                if self.state() in ENDED:
                    return
            except Unreachable:
                if time.monotonic() - silent_since > PATIENCE:
                    raise
                time.sleep(1.0)

    def _events(self, after: int) -> Iterator[Event]:
        headers = {"last-event-id": str(after)}
        with self.client.stream("GET", f"/jobs/{self.id}/events", headers=headers) as answer:
            fields: dict[str, str] = {}
            for line in answer.iter_lines():
                name, colon, value = line.partition(": ")
                if colon and name:
                    fields[name] = value
                elif not line and fields:
                    data = json.loads(fields["data"])
                    yield Event(int(fields["id"]), fields["event"], data)
                    fields = {}

    def wait(self, progress: Progress | None = None) -> dict[str, Any]:
        """Wait for the job, and return its result; `progress` is called with every event."""
        for event in self.events():
            if progress is not None:
                progress(event)
        return self.result()

    def result(self) -> dict[str, Any]:
        """What the job returned; raises the error of one that failed or is not done."""
        about = self.about()
        if about["problem"] is not None:
            raise rebuilt(about["problem"])
        found: dict[str, Any] = self.client.json("GET", f"/jobs/{self.id}/result")
        return found

    def stop(self) -> None:
        """End the search; the job goes on with the best that was found."""
        self.client.json("POST", f"/jobs/{self.id}/stop")

    def cancel(self) -> None:
        """End the job without a result."""
        self.client.json("DELETE", f"/jobs/{self.id}")

    def save_release(self, path: str | Path) -> Path:
        """Save the release."""
        return self.client.download(f"/jobs/{self.id}/release", path)

    def save_report(self, path: str | Path) -> Path:
        """Save the report, an HTML page."""
        return self.client.download(f"/jobs/{self.id}/report", path)

    def save_transformation(self, path: str | Path) -> Path:
        """Save how records were recoded, for `shoal.apply`."""
        return self.client.download(f"/jobs/{self.id}/transformation", path)

    def save_definition(self, path: str | Path) -> Path:
        """Save the definition, as YAML, JSON or XML by the ending of the path."""
        ending = Path(path).suffix.lower().removeprefix(".")
        form = ending if ending in ("json", "xml") else "yaml"
        return self.client.download(f"/jobs/{self.id}/definition", path, {"format": form})


class Client(Session):
    """A Shoal server, as one of its users.

    Args:
        url: The address of the server, such as `https://shoal.example`.
        token: The token that the administrator gave you.
        timeout: Seconds for one request; jobs may take longer.

    Example:
        with shoal.Client("https://shoal.example", token) as client:
            job = client.run("patients.yaml", ["patients.csv"])
            result = job.wait()
            job.save_release("release.csv")
    """

    @property
    def mart(self) -> RemoteMart:
        """The data mart of the server: its catalog, requests, decisions and log.

        Example:
            asked = client.mart.ask({"purpose": "staging", "project": ["PT", "age"]})
            asked.wait()
            asked.save_release("release.csv")
        """
        return RemoteMart(self)

    def upload(self, path: str | Path, name: str | None = None) -> str:
        """Upload a file, piece by piece, and return its id; `name` is shown on the server.

        Example:
            patients = client.upload("patients.csv")
        """
        path = Path(path)
        if not path.is_file():
            raise BadData(f"there is no file {path}", code="no-file", hint="check the path")
        headers = {
            "x-file-name": quote(name or path.name),
            "content-length": str(path.stat().st_size),
        }
        answer = self.json("POST", "/uploads", content=_blocks(path), headers=headers)
        return str(answer["id"])

    def uploads(self) -> list[dict[str, Any]]:
        """Your uploads, the newest first."""
        found: list[dict[str, Any]] = self.json("GET", "/uploads")
        return found

    def delete_upload(self, upload_id: str) -> None:
        """Delete an upload."""
        self.json("DELETE", f"/uploads/{quote(upload_id, safe='')}")

    def sources(self) -> list[dict[str, Any]]:
        """The sources that you may use by name, as in `source: {source: registry}`."""
        found: list[dict[str, Any]] = self.json("GET", "/sources")
        return found

    def check(self, definition: DefinitionFile, files: Files = ()) -> str:
        """The definition as YAML, where it has no mistakes; else BadDefinition with all of them."""
        answer = self.json("POST", "/definitions/check", json=self._body(definition, files))
        return str(answer["definition"])

    def run(
        self,
        definition: DefinitionFile,
        files: Files = (),
        *,
        node: Mapping[str, int] | None = None,
    ) -> RemoteJob:
        """Release what a definition says.

        Args:
            definition: A mapping with the keys of a definition file, or the path of one.
            files: The files that the definition names, which are uploaded: a list of paths, as the
                definition has them, or by these names a path or the id of an upload.
            node: The levels to release, in place of the best ones.

        Example:
            job = client.run("patients.yaml", ["patients.csv", "hierarchies/country.csv"])
            job.wait(lambda event: print(event.name))
        """
        return self._submit("run", definition, files, node=node)

    def solutions(
        self,
        definition: DefinitionFile,
        files: Files = (),
        *,
        best: int = 10,
        minimal: bool = False,
        time_limit: float | None = None,
    ) -> RemoteJob:
        """The least lossy safe nodes, or all minimal ones; as `shoal.solutions`."""
        options = {"best": best, "minimal": minimal, "time_limit": time_limit}
        return self._submit("solutions", definition, files, **options)

    def lattice(
        self, definition: DefinitionFile, files: Files = (), *, near_optimum: bool = False
    ) -> RemoteJob:
        """Every node, or those near the optimum; as `shoal.lattice`."""
        return self._submit("lattice", definition, files, near_optimum=near_optimum)

    def frontier(
        self,
        definition: DefinitionFile,
        files: Files = (),
        *,
        k: str = "2,3,5,10,20,50",
        suppression: str | None = None,
        time_limit: float | None = None,
    ) -> RemoteJob:
        """The least loss for each k and suppression limit; as `shoal.frontier`."""
        options = {"k": k, "suppression": suppression, "time_limit": time_limit}
        return self._submit("frontier", definition, files, **options)

    def risk(
        self,
        definition: DefinitionFile | RemoteJob,
        files: Files = (),
        *,
        threshold: float = 0.2,
        fraction: float | None = None,
        population: int | None = None,
        sets: int = 2,
    ) -> RemoteJob:
        """How likely people are recognised, as `shoal.risk`.

        With a job of `run` in place of the definition its source and its release are measured.

        Args:
            definition: A definition, or a job of `run`.
            files: The files that the definition names.
            threshold: A record with a risk above this is at risk.
            fraction: The share of the population that the table is.
            population: The number of people in the population.
            sets: Distinction and separation are measured for sets of up to so many columns.

        Example:
            measures = client.risk(job).wait()
            print(measures["after"]["prosecutor"]["highest"])
        """
        options: dict[str, Any] = {"threshold": threshold, "fraction": fraction}
        options |= {"population": population, "sets": sets}
        if isinstance(definition, RemoteJob):
            answer = self.json("POST", "/jobs/risk", json={"job": definition.id, **options})
            return RemoteJob(self, answer["id"])
        return self._submit("risk", definition, files, **options)

    def utility(self, job: RemoteJob, *, target: str | None = None) -> RemoteJob:
        """What the release of a job is still good for; as `shoal.utility`."""
        answer = self.json("POST", "/jobs/utility", json={"job": job.id, "target": target})
        return RemoteJob(self, answer["id"])

    def jobs(self) -> list[dict[str, Any]]:
        """Your jobs, the newest first."""
        found: list[dict[str, Any]] = self.json("GET", "/jobs")
        return found

    def job(self, job_id: str) -> RemoteJob:
        """A job of yours by its id, also of an earlier program."""
        self.json("GET", f"/jobs/{quote(job_id, safe='')}")
        return RemoteJob(self, job_id)

    def _submit(
        self, task: str, definition: DefinitionFile, files: Files, **options: Any
    ) -> RemoteJob:
        body = {**self._body(definition, files), **options}
        answer = self.json("POST", f"/jobs/{task}", json=body)
        return RemoteJob(self, answer["id"])

    def _body(self, definition: DefinitionFile, files: Files) -> dict[str, Any]:
        """The definition as the server takes it, with its files uploaded."""
        folder = Path()
        if isinstance(definition, str | Path):
            path = Path(definition)
            folder, definition = path.parent, _text(path)
        named = files if isinstance(files, Mapping) else {str(each): each for each in files}
        return {
            "definition": definition,
            "files": {name: self._uploaded(folder / each) for name, each in named.items()},
        }

    def _uploaded(self, file: Path) -> str:
        """The id of an upload: the file's, or what is an id already."""
        is_id = len(file.name) == 32 and not set(file.name) - set("0123456789abcdef")
        return file.name if is_id and not file.exists() else self.upload(file)


def _text(path: Path) -> str:
    """The text of a definition file; the server checks what it says."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        remedy = "check the path, and save the file as UTF-8"
        raise BadDefinition(str(path), [Mistake("file", "cannot be read", remedy)]) from None


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block
