"""Every error Shoal raises: what is wrong, a hint what to do, and a code to look up.

ShoalError
├── UserError            exit 2: the definition or the data is wrong
│   ├── BadDefinition    one or more mistakes in a definition, all of them listed
│   ├── BadData          the source cannot be read as the definition says
│   ├── BadHierarchy     a hierarchy is not nested, ragged, or does not cover the data
│   ├── BadOutput        the output cannot be written there
│   └── MissingExtra     a part that is not installed or not known
├── Infeasible           exit 3: no transformation meets the demand
├── Refused              exit 4: the verifier refused the release, or a strict definition did
├── Declined             exit 5: the person who was asked did not say yes
├── Interrupted          exit 130: the user stopped the run
└── Bug                  exit 1: our own mistake
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from shoal.values import Result


class ShoalError(Exception):
    """Base of all: `what` happened, `hint` how to go on, `code` to look it up in docs/errors.md."""

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, code: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.code = code

    def __str__(self) -> str:
        text = f"{self.what} [{self.code}]"
        return f"{text}\n{self.hint}" if self.hint else text


class UserError(ShoalError):
    """The user can correct it."""

    exit_code = 2


@dataclass(frozen=True)
class Mistake:
    """One mistake in a definition: the key, what is wrong there, and the remedy.

    `code` is the code of an error that has no other mistakes, where it is not `bad-definition`.
    """

    key: str
    what: str
    remedy: str
    line: int | None = None
    code: str = ""

    def __str__(self) -> str:
        where = f"{self.key} (line {self.line})" if self.line else self.key
        return f"{where}: {self.what}; {self.remedy}"


class BadDefinition(UserError):
    """All mistakes of one definition at once."""

    def __init__(self, file: str, mistakes: Sequence[Mistake]) -> None:
        count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        lines = "".join(f"\n  {mistake}" for mistake in mistakes)
        super().__init__(f"{file}: {count}{lines}", code="bad-definition")
        codes = {mistake.code for mistake in mistakes}
        if len(codes) == 1:
            self.code = codes.pop() or self.code
        self.file = file
        self.mistakes = tuple(mistakes)


class BadData(UserError):
    """The source cannot be read as the definition says."""


class BadHierarchy(UserError):
    """A hierarchy is broken or does not cover the data.

    `uncovered` are the values of the data that it does not cover, the most frequent first.
    """

    uncovered: tuple[str, ...] = ()


class BadOutput(UserError):
    """The output cannot be written there."""


class MissingExtra(UserError):
    """A part that is not installed or not known."""


class Infeasible(ShoalError):
    """No transformation meets the demand; nothing is released.

    `reasons` say why, each of the `remedies` would be enough by itself. `result` is the record of a
    run that ended so, where there was one.
    """

    exit_code = 3

    def __init__(
        self,
        what: str,
        *,
        code: str,
        hint: str = "",
        reasons: Sequence[str] = (),
        remedies: Sequence[str] = (),
    ) -> None:
        super().__init__(what, code=code, hint=hint)
        self.reasons = tuple(reasons)
        self.remedies = tuple(remedies)
        self.result: Result | None = None


class Refused(ShoalError):
    """The verifier refused, or a strict definition did; nothing is released."""

    exit_code = 4


class Declined(ShoalError):
    """The person who was asked did not say yes; nothing is released."""

    exit_code = 5


class Interrupted(ShoalError):
    """The user stopped the run; nothing is released."""

    exit_code = 130


class Bug(ShoalError):
    """Something that must not happen; nothing is released."""


def rebuilt(problem: Mapping[str, Any]) -> ShoalError:
    """The error that a problem of the server (application/problem+json) was made from.

    `kind` is the name of its class here, `detail` what is wrong. A problem of no kind that is known
    here is a plain ShoalError, so that a client may be older than its server.
    """
    kind = globals().get(str(problem.get("kind")), ShoalError)
    what, code = str(problem.get("detail", "")), str(problem.get("code", "unknown"))
    hint = str(problem.get("hint", ""))
    if kind is BadDefinition:
        mistakes = [Mistake(**mistake) for mistake in problem.get("mistakes", ())]
        return BadDefinition(str(problem.get("file", "definition")), mistakes)
    if kind is Infeasible:
        reasons, remedies = problem.get("reasons", ()), problem.get("remedies", ())
        return Infeasible(what, code=code, hint=hint, reasons=reasons, remedies=remedies)
    if not (isinstance(kind, type) and issubclass(kind, ShoalError)):
        kind = ShoalError
    return kind(what, code=code, hint=hint)


@contextmanager
def after_publishing(output: str | None) -> Iterator[None]:
    """Let every error from here on say that the release itself was published, and where.

    Reports, results and proofs are written after the release. When one of them fails, the release
    is there all the same.
    """
    said = f"the release itself was published: {output}"
    try:
        yield
    except ShoalError as error:
        error.what = f"{error.what}\n{said}"
        raise
    except Exception as error:
        error.add_note(said)
        raise


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the nearest known word, or nothing."""
    names = list(known)
    folded = {name.casefold(): name for name in names}
    near = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.6)
    return f"; did you mean {folded[near[0]]!r}?" if near else ""


def quoted(words: Iterable[str], limit: int = 20) -> str:
    """The words in quotes, separated by commas, cut after `limit`."""
    names = list(words)
    shown = ", ".join(repr(name) for name in names[:limit])
    return f"{shown} and {len(names) - limit} more" if len(names) > limit else shown
