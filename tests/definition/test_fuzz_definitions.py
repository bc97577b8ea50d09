"""A thousand broken definitions: each is refused in words with a remedy, none hangs or crashes.

Good definitions are mutated, with a seed for each number, as text, as bytes and as data. A mutant
may happen to be a good definition again; else it must be a BadDefinition.
"""

from __future__ import annotations

import copy
import json
import random
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from lxml import etree

from commands import shoal
from shoal.definition.model import Definition
from shoal.definition.read import from_mapping, read
from shoal.definition.write import spelled
from shoal.errors import BadDefinition

GOOD: dict[str, Any] = {
    "source": {"path": "patients.csv", "delimiter": ";", "header": 3, "decimal": ","},
    "output": {"path": "release", "format": "parquet", "partition by": ["ward"]},
    "report": "release.html",
    "k": 5,
    "suppression": "5%",
    "suppressed": "mark",
    "person": ["name"],
    "strict": True,
    "recoding": "local",
    "missing": {"match": "basic", "values": ["NA", "?"], "sensitive": "value"},
    "loss": {"name": "iyengar", "aggregate": "geometric"},
    "search": {"strategy": "box", "time limit": "60 s", "gap": 0.01, "threads": 2, "effort": "low"},
    "engine": {"memory limit": "2 GB", "spill folder": "spill", "tuples": 1000000},
    "attributes": {
        "name": "identifier",
        "zip": {"role": "quasi-identifier", "hierarchy": {"mask": 5}, "limit": 3, "priority": 0.8},
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10], "origin": 1}},
        "pay": {"role": "quasi-identifier", "hierarchy": {"cuts": [[1, 2, 3], [2]]}},
        "day": {"role": "quasi-identifier", "hierarchy": {"date": ["month", "year"]}},
        "sex": {"role": "quasi-identifier", "hierarchy": "suppress"},
        "code": {"role": "quasi-identifier", "hierarchy": {"groups": [2, 4], "order": "text"}},
        "stage": {
            "role": "quasi-identifier",
            "hierarchy": {"tree": {"low": {"1": ["1a", "1b"], "2": ["2"]}, "high": ["3", "4"]}},
            "information loss": [0, 0.3, 0.7, 1],
        },
        "diagnosis": {"role": "sensitive", "diversity": {"distinct": 3, "entropy": 2}},
        "income": {
            "role": "sensitive",
            "closeness": {"t": 0.2, "distance": "ordered"},
            "likeness": {"beta": 2, "enhanced": True},
            "alpha": 0.5,
        },
        "ward": "keep",
    },
    "others": "drop",
}
SPELLINGS = ("yaml", "json", "xml")
TEXTS = {spelling: spelled(from_mapping(GOOD), spelling) for spelling in SPELLINGS}
ODD: list[Any] = [
    None, "", [], {}, True, -1, 0, 1e308, 10**400, "1e999", "nan", "x" * 5000, [[]], {"": ""}, "\0",
    "../..", "*", "9" * 5000, "0x10", "é", "\ud800", [None], {"path": {}}, "true", "1_000", ".",
]  # fmt: skip
MANY = 1000
SECONDS = 30.0

Dice = random.Random
Place = tuple[Any, Any]


def mutate_text(text: str, dice: Dice) -> str:
    """A slice is deleted, doubled, swapped with another or cut off; or something is put in."""
    a, b = sorted(dice.randrange(len(text)) for _ in range(2))
    b = min(b, a + dice.choice([1, 3, 20, 200]))
    lines = text.splitlines(keepends=True)
    i, j = dice.randrange(len(lines)), dice.randrange(len(lines))
    deep = dice.choice(["[", "{a: ", "<value label='x'>", '{"a":', "- ", "["]) * dice.choice(
        [9, 5000]
    )
    match dice.randrange(8):
        case 0:
            return text[:a] + text[b:]
        case 1:
            return text[:b] + text[a:]
        case 2:
            lines[i], lines[j] = lines[j], lines[i]
            return "".join(lines)
        case 3:
            return text[:a]
        case 4:
            odd = "\x00\x07\x1b\x85\u2028\ufeff&%<>!*\"'{}[]:#\t"
            return text[:a] + dice.choice(odd) + text[a:]
        case 5:
            return text[:a] + deep + text[a:]
        case 6:
            huge = dice.choice(["9" * 5000, "1e999", "-1", "nan", "0.0000001", "1" + "0" * 30])
            return re.sub(r"\b\d+\b", lambda m: huge if dice.random() < 0.2 else m[0], text)
        case _:
            del lines[i : i + dice.randrange(1, 5)]
            return "".join(lines)


def mutate_bytes(text: str, dice: Dice) -> bytes:
    """Another encoding, or bytes that are changed at random."""
    match dice.randrange(4):
        case 0:
            return text.encode(dice.choice(["utf-16", "utf-32", "utf-8-sig", "utf-7"]))
        case 1:
            return text.replace("a", "ä").encode("latin-1")
        case _:
            found = bytearray(text.encode())
            for _ in range(dice.choice([1, 5, 50])):
                found[dice.randrange(len(found))] = dice.randrange(256)
            return bytes(found)


def places(data: Any) -> list[Place]:
    """Every mapping or list in the data with each of its keys."""
    found: list[Place] = []
    keys = data.keys() if isinstance(data, dict) else range(len(data))
    for key in keys:
        found.append((data, key))
        if isinstance(data[key], dict | list):
            found += places(data[key])
    return found


def mutate_data(dice: Dice) -> Any:
    """A key is lost, misspelled, given an odd value, or takes the value of another."""
    data = copy.deepcopy(GOOD)
    for _ in range(dice.choice([1, 1, 3])):
        found = places(data)
        holder, key = dice.choice(found)
        other, its_key = dice.choice(found)
        match dice.randrange(4):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[str(key)[:-1] + dice.choice("sx ")] = holder.pop(key)
            case 2:
                holder[key] = copy.deepcopy(other[its_key])
            case _:
                holder[key] = copy.deepcopy(dice.choice(ODD))
    return data


def mutate_elements(dice: Dice) -> str:
    """An element or attribute is lost, doubled, renamed, moved or given an odd value."""
    root = etree.fromstring(TEXTS["xml"].encode())
    for _ in range(dice.choice([1, 1, 3])):
        elements = list(root.iter())[1:]
        element, other = dice.choice(elements), dice.choice(elements)
        parent = element.getparent()
        assert parent is not None
        match dice.randrange(6):
            case 0:
                parent.remove(element)
            case 1:
                parent.append(copy.deepcopy(element))
            case 2:
                element.tag = dice.choice(["x", str(other.tag), "{urn:x}k"])
            case 3 if element.attrib:
                name = dice.choice(list(element.attrib))
                value = dice.choice([None, "", "-1", "x", "9" * 5000, "nan", "1 x", "&<"])
                element.attrib.pop(name) if value is None else element.set(name, value)
            case 4:
                element.set(dice.choice(["x", "name", "type", "limit"]), "x")
            case _:
                other.append(copy.deepcopy(element))
    return str(etree.tostring(root, encoding="unicode"))


def mutant(number: int) -> tuple[bytes, str]:
    """The content and the spelling of one broken definition."""
    dice = random.Random(number)
    spelling = dice.choice(SPELLINGS)
    match dice.randrange(4):
        case 0:
            return mutate_text(TEXTS[spelling], dice).encode("utf-8", "replace"), spelling
        case 1:
            return mutate_bytes(TEXTS[spelling], dice), spelling
        case _ if spelling == "xml":
            return mutate_elements(dice).encode(), spelling
        case _:
            write: Callable[[Any], str] = json.dumps if spelling == "json" else yaml.safe_dump
            return write(mutate_data(dice)).encode("utf-8", "surrogatepass"), spelling


def written(number: int, folder: Path) -> Path:
    content, spelling = mutant(number)
    path = folder / f"mutant-{number}.{spelling}"
    path.write_bytes(content)
    return path


def outcome(path: Path) -> Definition | BadDefinition:
    try:
        return read(path)
    except BadDefinition as error:
        return error


def test_the_definitions_to_mutate_are_good(tmp_path: Path) -> None:
    for spelling, text in TEXTS.items():
        path = tmp_path / f"good.{spelling}"
        path.write_text(text, encoding="utf-8")
        assert isinstance(outcome(path), Definition)


@pytest.mark.slow
@pytest.mark.parametrize("hundred", range(MANY // 100))
def test_a_broken_definition_is_refused_in_words_with_a_remedy(
    hundred: int, tmp_path: Path
) -> None:
    refused = 0
    for number in range(100 * hundred, 100 * hundred + 100):
        path = written(number, tmp_path)
        begin = time.process_time()
        found = outcome(path)
        assert time.process_time() - begin < SECONDS, path.name
        if isinstance(found, BadDefinition):
            refused += 1
            assert found.mistakes, path.name
            for mistake in found.mistakes:
                assert mistake.key, (path.name, str(mistake))
                assert mistake.what, (path.name, str(mistake))
                assert mistake.remedy, (path.name, str(mistake))
                assert "can stand here" not in mistake.what, (path.name, str(mistake))
                assert "as the schema" not in mistake.what, (path.name, str(mistake))
                assert len(str(mistake)) < 1000, (path.name, str(mistake)[:200])
                str(mistake).encode("utf-8")
    assert refused > 50


@pytest.mark.slow
@pytest.mark.parametrize("number", range(0, MANY, 100))
def test_the_command_refuses_a_broken_definition_with_exit_code_2(
    number: int, tmp_path: Path
) -> None:
    done = shoal("run", written(number, tmp_path), folder=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
