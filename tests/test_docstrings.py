"""Every public function has typed parameters and a docstring whose example runs."""

from __future__ import annotations

import doctest
import inspect
import os
import pydoc
import re
import rlcompleter
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import shoal
from shoal.demo.files import write_demo

ROOT = Path(__file__).parent.parent
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
RUNS_FIRST = ("run", "request")
"""What the examples of other functions need is written by these."""


def public_functions() -> dict[str, Callable[..., Any]]:
    """Every public function of the package and of its data marts, by its whole name."""
    found = {f"shoal.{name}": getattr(shoal, name) for name in shoal.__all__}
    found |= {f"shoal.mart.{name}": getattr(shoal.mart, name) for name in shoal.mart.__all__}
    functions = {name: each for name, each in found.items() if inspect.isfunction(each)}
    return dict(sorted(functions.items(), key=lambda item: item[1].__name__ not in RUNS_FIRST))


@pytest.fixture(scope="module")
def examples_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `shoal demo` writes, and the catalog and the request of a data mart."""
    folder = tmp_path_factory.mktemp("examples")
    write_demo(folder, records=2000)
    shutil.copytree(ROOT / "examples" / "mart" / "six", folder, dirs_exist_ok=True)
    return folder


@pytest.mark.slow
def test_the_example_of_every_public_function_runs(
    examples_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(examples_folder)
    finder, failed = doctest.DocTestFinder(recurse=False), []
    for name, function in {**public_functions(), "shoal": shoal}.items():
        (tests,) = [finder.find(function, name, globs={"shoal": shoal, "yaml": yaml})]
        assert sum(len(each.examples) for each in tests) > 0, f"{name} has no example"
        runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
        said: list[str] = []
        for each in tests:
            runner.run(each, out=said.append)
        if runner.failures:
            failed.append("".join(said))
    assert not failed, os.linesep.join(failed)


@pytest.mark.parametrize("name", public_functions())
def test_every_parameter_of_a_public_function_has_a_type_and_is_explained(name: str) -> None:
    function = public_functions()[name]
    signature, said = inspect.signature(function), inspect.getdoc(function) or ""
    for parameter in signature.parameters.values():
        assert parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL), parameter
        assert not re.fullmatch("Any|", str(parameter.annotation or "")), parameter
        assert parameter.annotation is not parameter.empty, parameter
    assert str(signature.return_annotation) not in ("Any", str(inspect.Signature.empty))
    if len(signature.parameters) > 2:
        explained = set(re.findall(r"^    (\w+): ", said, re.MULTILINE))
        assert set(signature.parameters) <= explained, set(signature.parameters) - explained


def test_help_begins_with_what_there_is_and_names_every_function() -> None:
    said = pydoc.plain(pydoc.render_doc(shoal))
    assert "    Begin with one of two functions. `anonymize` takes" in said[:400]
    described = inspect.getdoc(shoal) or ""
    functions = [name for name in shoal.__all__ if inspect.isfunction(getattr(shoal, name))]
    for name in functions:
        assert re.search(rf"^    {name} +\S|`{name}`", described, re.MULTILINE), name
        assert f"    {name}(" in said, name


def test_names_are_completed_and_nothing_else_is_offered() -> None:
    completer = rlcompleter.Completer({"shoal": shoal})
    assert completer.attr_matches("shoal.an") == ["shoal.anonymize("]
    assert completer.attr_matches("shoal.mart.req") == [
        "shoal.mart.request(",
        "shoal.mart.request_from_mapping(",
        "shoal.mart.request_mistakes(",
    ]
    assert dir(shoal) == list(shoal.__all__)
    assert dir(shoal.mart) == list(shoal.mart.__all__)
