"""The reference of the Python API: `python -m scripts.api_page` writes docs/api.md.

It has the signature and the docstring of every public name of `shoal`. A test fails when the page
and the code differ.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import shoal
import shoal.mart
from shoal.calling import argument_types

PAGE = Path(__file__).parent.parent / "docs" / "api.md"

INTRODUCTION = """# Python API

Every public name of `shoal`, with its signature and what it promises.
`python -m scripts.api_page` writes this page from the docstrings; their examples are run. What
holds for all functions is in [From Python](guides/python.md); `shoal.mart` has a
[guide](guides/mart.md) too, plug-ins have [theirs](guides/plugins.md).
"""


def page() -> str:
    """The whole page, in Markdown: functions first, then classes, then errors."""
    public = {
        name: getattr(shoal, name)
        for name in sorted(shoal.__all__)
        if not name.startswith("_") and not inspect.ismodule(getattr(shoal, name))
    }
    classes = {name: each for name, each in public.items() if inspect.isclass(each)}
    errors = {name: each for name, each in classes.items() if issubclass(each, Exception)}
    functions = {name: each for name, each in public.items() if name not in classes}
    parts = [INTRODUCTION, "## Functions\n"]
    for name, function in functions.items():
        parts.append(_entry("###", f"shoal.{name}", name + _signature(function), function))
    parts.append("## Data marts\n")
    for name, function in inspect.getmembers(shoal.mart, inspect.isfunction):
        parts.append(_entry("###", f"shoal.mart.{name}", name + _signature(function), function))
    parts.append("## Types\n\nThe names that signatures use.\n")
    parts += _types()
    parts.append("## Classes\n")
    for name in sorted(set(classes) - set(errors)):
        parts += _class(name, classes[name])
    parts.append("## Errors\n\nEvery error has `what`, `hint` and a [code](errors.md).\n")
    for name, error in errors.items():
        parts.append(f"### shoal.{name}\n\n{_docstring(error)}\n")
    return "\n".join(parts)


def _types() -> Iterator[str]:
    """The types of arguments, with what each means and what it is."""
    source = Path(argument_types.__file__).read_text(encoding="utf-8")
    alias = r'^(\w+)(?:: TypeAlias)? = ([^\n]+)\n"""(.+?)"""$'
    for name, stated, said in re.findall(alias, source, re.MULTILINE | re.DOTALL):
        yield f"### {name}\n\n```text\n{stated.strip(chr(34))}\n```\n\n{said}\n"


def _class(name: str, described: type) -> Iterator[str]:
    """A class, its fields, then its own public methods and those of its bases in the package."""
    yield f"### shoal.{name}\n\n{_docstring(described)}\n"
    fields = _fields(described)
    if fields:
        yield f"Fields: {', '.join(f'`{field}`' for field in fields)}.\n"
    for method, function in sorted(inspect.getmembers(described, inspect.isfunction)):
        ours = function.__module__.startswith("shoal")
        if ours and not method.startswith("_") and function.__doc__:
            heading = f"shoal.{name}.{method}"
            yield _entry("####", heading, method + _signature(function), function)


def _fields(described: type) -> list[str]:
    """The fields of a dataclass or of a model of pydantic, and the properties of any class."""
    stated = getattr(described, "__dataclass_fields__", None) or vars(described).get("model_fields")
    names = list(stated or ())
    if not names and hasattr(described, "model_fields"):
        names = list(described.model_fields)
    properties = [
        key
        for base in reversed(described.__mro__)
        if base.__module__.startswith("shoal")
        for key, value in vars(base).items()
        if isinstance(value, property)
    ]
    return [each for each in dict.fromkeys([*names, *properties]) if not each.startswith("_")]


def _entry(heading: str, title: str, signature: str, described: Any) -> str:
    return f"{heading} {title}\n\n```text\n{signature}\n```\n\n{_docstring(described)}\n"


def _docstring(described: Any) -> str:
    """A docstring as Markdown: its sections in bold, what they list as lists."""
    lines: list[str] = []
    in_example = False
    for line in (inspect.getdoc(described) or "").splitlines():
        listed = re.match(r" {4}([\w*]+): (.*)", line)
        if line == "Example:":
            lines += ["**Example:**", "", "```text"]
            in_example = True
        elif in_example:
            lines.append(line.removeprefix("    "))
        elif re.fullmatch(r"(Args|Raises|Returns|Yields):", line):
            lines += [f"**{line}**", ""]
        elif listed:
            lines.append(f"- `{listed[1]}`: {listed[2]}")
        else:
            lines.append(line.strip() if line.startswith("    ") else line)
    if in_example:
        lines.append("```")
    shown, _, example = "\n".join(lines).partition("```text")
    return shown.replace("<", "&lt;") + (f"```text{example}" if example else "")


def _signature(function: Any) -> str:
    """The parameters with types and defaults, one a line where they are many."""
    signature = inspect.signature(function)
    listed: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in listed:
            listed.append("*")
        listed.append(_parameter(parameter))
    returned = signature.return_annotation
    result = "" if returned is signature.empty else f" -> {returned}"
    short = f"({', '.join(listed)}){result}"
    if len(short) < 80:
        return short
    return "(\n" + "".join(f"    {each},\n" for each in listed) + f"){result}"


def _parameter(parameter: inspect.Parameter) -> str:
    text = parameter.name
    if parameter.kind is parameter.VAR_KEYWORD:
        text = f"**{text}"
    elif parameter.kind is parameter.VAR_POSITIONAL:
        text = f"*{text}"
    if parameter.annotation is not parameter.empty:
        text += f": {parameter.annotation}"
    if parameter.default is not parameter.empty:
        default = parameter.default
        text += f" = {default.__name__ if callable(default) else repr(default)}"
    return text


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
