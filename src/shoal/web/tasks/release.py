"""Release what a project defines, into the job's folder: exactly what `shoal run` releases.

Arguments: `layout`; `levels`, the node to release, none for the best one; `kept`, the file of a
local recoding to release, where there is one; `seconds`, a limit for the search; `command`, what
the report shows to make the same release again; `names`, the names of the files to write, by what
they are; `definitions`, the texts of some of them by what they are; `accepted`, what a person saw
and accepted: if the release would be another one, there is none.
The folder then has the release and these files. The zip is there where the definition names
hierarchy files; it has these and the definition. The assignment is there where persons are counted
in a local recoding.
"""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.definition.read import override
from shoal.engines.failures import source_changed
from shoal.pipeline import run as release
from shoal.report.result import to_dict, write_result
from shoal.report.run import write_report
from shoal.web.laid_out import kept_of, laid_out

if TYPE_CHECKING:
    from shoal.pipeline import Ask
    from shoal.report.proposal import Proposal
    from shoal.web.jobs.model import Context


def run(arguments: Mapping[str, Any], context: Context) -> dict[str, Any]:
    """Release; the result of the run, and the file names. Stopping keeps the best node found."""
    layout, names = arguments["layout"], arguments["names"]
    with laid_out(layout) as definition:
        limit = {"search": {"time limit": arguments.get("seconds")}}
        limited = override(definition, limit, layout["file"])
        plan = None if limited.population is not None else names["transformation"]
        counts_persons = limited.recoding == "local" and bool(limited.person)
        result = release(
            limited,
            observe=context.observe,
            keep_best=True,
            file=layout["file"],
            node=arguments.get("levels"),
            kept=kept_of(arguments),
            transformation=plan,
            assignment=names.get("assignment") if counts_persons else None,
            ask=_as_accepted(arguments.get("accepted"), definition.source.shown),
        )
        write_report(result, limited, Path(names["report"]), command=arguments["command"])
        write_result(result, Path(names["result"]))
        files = {"release": result.output, **names}
        _add_definitions(arguments)
        written = {what: name for what, name in files.items() if name and Path(name).exists()}
        for name in written.values():
            shutil.move(name, context.folder / name)
    return {"result": to_dict(result), "files": written, "command": arguments["command"]}


def accepted_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """What of a proposed result the release must still be, as JSON has it."""
    seen = {key: result[key] for key in ("levels", "records", "removed", "suppressed", "classes")}
    warnings = sorted({(each["code"], each["attribute"] or "") for each in result["warnings"]})
    plain: dict[str, Any] = json.loads(json.dumps({**seen, "warnings": warnings}))
    return plain


def _as_accepted(accepted: Mapping[str, Any] | None, source: str) -> Ask | None:
    """Answers yes where the proposal is what was accepted, else raises: the source changed."""
    if accepted is None:
        return None

    def answer(proposal: Proposal) -> bool:
        if accepted_of(to_dict(proposal.result)) != accepted:
            raise source_changed(source)
        return True

    return answer


def _add_definitions(arguments: Mapping[str, Any]) -> None:
    """The definition in its forms, and with its hierarchy files in a zip."""
    layout, names = arguments["layout"], arguments["names"]
    for what, text in arguments["definitions"].items():
        Path(names[what]).write_text(text, encoding="utf-8", newline="\n")
    beside = [name for name in layout.get("files", ()) if "/" in name]
    if beside and "zip" in names:
        with zipfile.ZipFile(names["zip"], "w", zipfile.ZIP_DEFLATED) as packed:
            for name in (layout["file"], *beside):
                packed.write(name, name)
