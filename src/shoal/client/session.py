"""What every call to a Shoal server shares: the token, problems as errors, files as wholes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from shoal.errors import MissingExtra, ShoalError, UserError, rebuilt

if TYPE_CHECKING:
    import httpx

PREFIX = "/api/v1"


class Session:
    """A connection to a server with the token of a user.

    Problems that the server answers are raised as the errors that `shoal.run` would raise.
    """

    def __init__(self, url: str, token: str, *, timeout: float = 60.0) -> None:
        """Connect to the server at `url`; `timeout` is for one request, in seconds."""
        try:
            import httpx
        except ImportError:
            raise MissingExtra(
                "the client needs httpx",
                code="missing-driver",
                hint="pip install 'shoal[web]'",
            ) from None
        self._url = url
        self._http = httpx.Client(
            base_url=url.rstrip("/") + PREFIX,
            headers={"authorization": f"Bearer {token}"},
            timeout=timeout,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; jobs on the server go on."""
        self._http.close()

    def json(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        params: Mapping[str, str | list[str]] | None = None,
        headers: Mapping[str, str] | None = None,
        content: Iterable[bytes] | None = None,
    ) -> Any:
        """What the server answers to a request, as the values that its JSON has."""
        sent: dict[str, Any] = {"json": json, "params": params, "content": content}
        with self.stream(method, path, headers=headers, **sent) as answer:
            answer.read()
            return answer.json() if answer.content else None

    def download(self, path: str, to: str | Path, params: Mapping[str, str] | None = None) -> Path:
        """Save a file of the server; after an error the old file or none is there."""
        to = Path(to)
        part = to.with_name(f".{to.name}.{os.getpid()}.part")
        try:
            with self.stream("GET", path, params=params) as answer, part.open("wb") as file:
                for block in answer.iter_bytes():
                    file.write(block)
            part.replace(to)
        finally:
            part.unlink(missing_ok=True)
        return to

    @contextmanager
    def stream(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        params: Mapping[str, str | list[str]] | None = None,
        headers: Mapping[str, str] | None = None,
        content: Iterable[bytes] | None = None,
    ) -> Iterator[httpx.Response]:
        """The answer to a request, to be read piece by piece; a problem is raised."""
        import httpx

        sent: dict[str, Any] = {"json": json, "params": params, "content": content}
        try:
            with self._http.stream(method, path, headers=headers, **sent) as answer:
                if answer.is_error:
                    answer.read()
                    raise _error(answer)
                yield answer
        except httpx.TransportError as error:
            raise Unreachable(self._url, type(error).__name__) from error


class Unreachable(UserError):
    """The server does not answer, or broke off."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(
            f"the server at {url} does not answer ({why})",
            code="server-unreachable",
            hint="check the address and that the server runs; jobs that it has are not lost",
        )


def _error(answer: httpx.Response) -> ShoalError:
    """The error that a problem of the server says."""
    try:
        return rebuilt(answer.json())
    except (ValueError, TypeError, AttributeError):
        return ShoalError(
            f"the server answered with status {answer.status_code}, and not as Shoal does",
            code="bad-answer",
            hint="check the address: something else may answer there",
        )
