"""The release that was made: its files to download, and the command that makes the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nicegui import ui

from shoal.web.found import result_of
from shoal.web.node_words import is_mixed, release_sentence
from shoal.web.pages.components import attributes, box, button, note, panel, text

if TYPE_CHECKING:
    from shoal.web.pages.frame import StepFrame

FILES: Mapping[str, tuple[str, str]] = {
    "release": ("Release", "the generalized records"),
    "report": ("Report", "HTML, for whoever asks what was done"),
    "yaml": ("Definition, YAML", "what was demanded; shoal run reads it"),
    "xml": ("Definition, XML", "the same"),
    "json": ("Definition, JSON", "the same"),
    "zip": ("Definition with its hierarchy files", "a zip: unpack it beside the data"),
    "transformation": ("Transformation", "to recode later records alike with shoal apply"),
    "assignment": ("Assignment", "to count persons again with shoal verify --assignment"),
    "result": ("Result, JSON", "all numbers, for scripts and shoal verify"),
}


class ReleasedPanel:
    """The files of the latest release of a project."""

    def __init__(self, frame: StepFrame, *, former: bool = False, outdated: bool = False) -> None:
        self._frame, self._former, self._outdated = frame, former, outdated

    def build(self) -> None:
        """What was released, the downloads, the command."""
        frame = self._frame
        plain = result_of(frame.services, frame.project, "release")
        if plain is None:
            return
        result = plain["result"]
        if self._outdated:
            said = (
                "It was made before the definition or the node changed. Decide again to renew it."
            )
            note(said, "warning", title="The release is outdated")
        with panel("The former release" if self._former else "Released"):
            text("p", release_sentence(frame.numbers, result).replace("Release", "Released", 1),
                 "sentence")  # fmt: skip
            self._warn(result)
            self._files(plain["files"])
        with panel("The same in a terminal"):
            self._command(plain["command"], result)

    def _warn(self, result: Mapping[str, Any]) -> None:
        for each in result["warnings"]:
            with note(f"{each['text']} [{each['code']}]", "warning"):
                if each["code"] == "formula-cells":
                    text("div", "Here: decide again, with the format CSV, formulas as text.")

    def _files(self, files: Mapping[str, str]) -> None:
        with box("downloads", "ul"):
            for what, (title, about) in FILES.items():
                if what not in files:
                    continue
                address = f"/project/{self._frame.project.id}/download/{what}"
                with box("", "li"):
                    link = attributes(box("download", "a"), href=address, download=files[what])
                    with link:
                        ui.icon("download").props("aria-hidden=true")
                        text("span", title, "strong")
                    text("span", files[what], "mono small break")
                    text("span", about, "quiet small")

    def _command(self, command: str, result: Mapping[str, Any]) -> None:
        text("p", "In a folder with the same data and the downloaded definition.", "quiet")
        if is_mixed(result["levels"]) and "--time-limit" in command:
            note(
                "The search was stopped, so the command finds a recoding of its own within the "
                "same time. It keeps the same promise, but its classes can be other ones.",
            )
        with box("command"):
            text("code", command, "mono break")
            button("Copy", lambda: _copy(command), icon="content_copy", small=True)


def _copy(command: str) -> None:
    ui.clipboard.write(command)
    ui.notify("Copied")
