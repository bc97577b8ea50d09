"""The bodies of requests and answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from shoal.web.jobs.model import Job, JobState
from shoal.web.uploads import Upload

JOB_ID = "4f0c1c9be5b54f0b8f6f2b9d3f1a7c55"
Id: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
DEFINITION = {
    "source": "patients.csv",
    "k": 5,
    "suppression": "5%",
    "attributes": {
        "name": "identifier",
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 5}},
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}},
        "diagnosis": {"role": "sensitive", "diversity": {"distinct": 3}},
    },
}


class Body(BaseModel):
    """A body with these keys and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class MistakeOut(Body):
    """One mistake of a definition or a request: where, what, and the remedy."""

    key: str
    what: str
    remedy: str
    line: int | None = None
    code: str = ""


class Problem(BaseModel):
    """An error, as in RFC 9457, with the code of the command line."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "docs/errors.md#unknown-column",
                    "title": "no column 'zip' in patients.csv",
                    "status": 422,
                    "detail": "no column 'zip' in patients.csv; did you mean 'zipcode'?",
                    "code": "unknown-column",
                    "hint": "the columns are listed above",
                    "kind": "BadDefinition",
                }
            ]
        }
    )

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str = ""
    kind: str = "ShoalError"
    mistakes: list[MistakeOut] = []
    reasons: list[str] = []
    remedies: list[str] = []


class DefinitionIn(Body):
    """A definition, and the uploads that its file names stand for.

    `definition` is what a definition file holds, as an object, or as the text of a YAML, JSON or
    XML file; `format` says which, else the text does. `files` has the id of an upload for each file
    name in it. Without files, a source is `{upload: ID}` or `{source: NAME}` of an allowed source.
    """

    definition: dict[str, Any] | Annotated[str, StringConstraints(min_length=1)] = Field(
        examples=[DEFINITION]
    )
    format: Literal["yaml", "json", "xml"] | None = None
    files: dict[str, Id] = Field(default_factory=dict, examples=[{"patients.csv": JOB_ID}])


class Checked(Body):
    """A definition without mistakes, as YAML, and the file name of its release."""

    definition: str
    output: str = Field(examples=["release.csv"])


Count: TypeAlias = Annotated[int, Field(ge=1, le=10_000)]
TimeLimit: TypeAlias = Annotated[float, Field(gt=0, le=86_400)]
Levels: TypeAlias = dict[str, Annotated[int, Field(ge=0, le=1000)]]


class RunIn(DefinitionIn):
    """A release: of the best node, or of the `node` with these levels."""

    node: Levels | None = Field(default=None, examples=[{"zip": 3, "age": 1}])


class SolutionsIn(DefinitionIn):
    """The best safe nodes, or all minimal ones."""

    best: Count = 10
    minimal: bool = False
    at_most: Count = 1000
    time_limit: TimeLimit | None = None


class LatticeIn(DefinitionIn):
    """All nodes, refused where there are more than `at_most`, or those near the optimum."""

    near_optimum: bool = False
    at_most: Annotated[int, Field(ge=1, le=20_000)] = 20_000


class FrontierIn(DefinitionIn):
    """The least loss for each k and each suppression limit."""

    k: Annotated[str, StringConstraints(max_length=1000)] = Field(
        default="2,3,5,10,20,50", examples=["2:50"]
    )
    suppression: Annotated[str, StringConstraints(max_length=1000)] | None = Field(
        default=None, examples=["0,1,5,10%"]
    )
    time_limit: TimeLimit | None = None


class RiskOptions(Body):
    """What is measured, and against which population."""

    threshold: Annotated[float, Field(gt=0, lt=1)] = 0.2
    fraction: Annotated[float, Field(gt=0, le=1)] | None = None
    population: Annotated[int, Field(ge=1, le=10**12)] | None = None
    sets: Annotated[int, Field(ge=1, le=4)] = 2


class RiskIn(DefinitionIn, RiskOptions):
    """The risk of the source of a definition."""


class RiskOfJobIn(RiskOptions):
    """The risk of the source and of the release of a job that is done."""

    job: Id


class UtilityIn(Body):
    """What the release of a job is still good for; `target` is a column to predict."""

    job: Id
    target: Annotated[str, StringConstraints(min_length=1, max_length=1000)] | None = None


class JobOut(Body):
    """A job: where it stands, its last event, and its problem where it failed."""

    id: str = Field(examples=[JOB_ID])
    task: str = Field(examples=["run"])
    project: str | None
    state: JobState
    created: float
    started: float | None
    ended: float | None
    progress: dict[str, Any] = Field(examples=[{"event": "phase", "phase": "search"}])
    problem: Problem | None

    @classmethod
    def of(cls, job: Job) -> JobOut:
        """What a client sees of a job."""
        shown = {
            name: getattr(job, name)
            for name in ("id", "project", "state", "created", "started", "ended", "problem")
        }
        task = OPERATIONS.get(job.task, job.task)
        return cls(**shown, task=task, progress=dict(job.progress))


OPERATIONS = {"release": "run", "all_nodes": "lattice"}
"""What clients call some tasks."""


class UploadOut(Body):
    """A file that was uploaded."""

    id: str = Field(examples=[JOB_ID])
    name: str = Field(examples=["patients.csv"])
    kind: str = Field(examples=["CSV"])
    bytes: int
    created: float

    @classmethod
    def of(cls, upload: Upload) -> UploadOut:
        """What a client sees of an upload."""
        return cls(
            id=upload.id,
            name=upload.label,
            kind=upload.kind,
            bytes=upload.bytes,
            created=upload.created,
        )


class SourceOut(Body):
    """A source that the administrator allows."""

    name: str = Field(examples=["registry"])
    title: str
    description: str


class Health(Body):
    """Whether the server works."""

    status: Literal["ok"]
    version: str
