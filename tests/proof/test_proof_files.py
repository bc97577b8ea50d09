"""Proofs in files: what a run writes the checker accepts, for every way to define a problem."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path
from typing import Any

import pytest

from shoal.definition.read import from_mapping
from shoal.errors import BadData, BadOutput
from shoal.pipeline import run
from shoal.proof.check import Checked, check_file
from shoal.proof.format import Proof, read_proof
from shoal.values import Closed

AGE = {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}}
ZIP = {"role": "quasi-identifier", "hierarchy": {"mask": 3}}
JOB = {"role": "quasi-identifier", "hierarchy": "suppress"}
TREE = {"tree": {"chest": ["flu", "cold"], "skin": ["rash", "burn"]}}
ATTRIBUTES: dict[str, Any] = {
    "age": AGE,
    "zip": ZIP,
    "job": JOB,
    "illness": {"role": "keep"},
    "pay": {"role": "drop"},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """People with missing cells in every column."""
    draw = random.Random(4)
    lines = ["age,zip,job,illness,pay"]
    for _ in range(150):
        age = draw.choice(["", str(int(draw.gauss(40, 12)))])
        place = draw.choice(["101", "102", "113", "211", "NA"])
        job = draw.choice(["nurse", "baker", "smith", ""])
        illness = draw.choice(["flu", "flu", "cold", "rash", "burn", ""])
        lines.append(f"{age},{place},{job},{illness},{draw.choice(['9', '10', '200'])}")
    (tmp_path / "people.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    return tmp_path


def definition(folder: Path, **changed: Any) -> dict[str, Any]:
    attributes = {**ATTRIBUTES, **changed.pop("attributes", {})}
    return {
        "source": str(folder / "people.csv"),
        "output": str(folder / "release.csv"),
        "k": 3,
        "suppression": "10%",
        "missing": {"match": "extended", "values": ["NA"]},
        "attributes": attributes,
        **changed,
    }


def checked(folder: Path, mapping: dict[str, Any], name: str = "proof.jsonl") -> Checked:
    return check_file(from_mapping(mapping), folder / name, progress=lambda done, boxes: None)


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"suppression": 0, "k": 2},
        {"missing": {"match": "basic", "values": ["NA"]}},
        {"loss": "entropy", "attributes": {"age": {**AGE, "priority": 0.3, "limit": 2}}},
        {"loss": {"name": "precision", "aggregate": "geometric"}},
        {
            "loss": "weighted",
            "attributes": {"age": {**AGE, "information loss": [0, 0.1, 0.4, 0.5, 1]}},
        },
        {
            "loss": "weighted",
            "attributes": {"zip": {**ZIP, "information loss": [0, 0.1, 0.4, 0.5, 1]}},
        },
        {"attributes": {"zip": {**ZIP, "from": 4}}},
        {"attributes": {"zip": {**ZIP, "limit": 4}}},
        {"loss": "discernibility"},
        {"loss": "class-size"},
        {"attributes": {"age": {"role": "quasi-identifier"}, "zip": {"role": "quasi-identifier"}}},
        {"attributes": {"illness": {"role": "sensitive", "diversity": {"distinct": 2}}}},
        {"attributes": {"illness": {"role": "sensitive", "diversity": {"entropy": 1.8}}}},
        {
            "attributes": {
                "pay": {"role": "sensitive", "closeness": {"t": 0.4, "distance": "ordered"}}
            }
        },
        {
            "attributes": {
                "illness": {
                    "role": "sensitive",
                    "hierarchy": TREE,
                    "closeness": {"t": 0.4, "distance": "hierarchical"},
                }
            },
            "missing": {"match": "basic", "values": ["NA"], "sensitive": "value"},
        },
    ],
    ids=lambda changed: "-".join(changed) or "plain",
)
def test_the_proof_of_a_run_holds(folder: Path, changed: dict[str, Any]) -> None:
    mapping = definition(folder, **changed)
    result = run(mapping, proof=folder / "proof.jsonl")
    found = checked(folder, mapping)
    assert found.verdict.failures == ()
    assert len(found.verdict.findings) == 4
    assert dict(found.levels) == result.levels
    assert (found.records, found.removed) == (result.records, result.removed)
    assert found.verdict.smallest_class == result.smallest_class
    assert found.verdict.classes == result.classes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "differing"),
    [
        ({"k": 4}, "privacy"),
        ({"suppression": "9%"}, "suppression_limit"),
        ({"loss": "precision"}, "loss"),
        ({"missing": {"match": "basic", "values": ["NA"]}}, "records, removed"),
        ({"attributes": {"zip": {**ZIP, "limit": 2}}}, "attributes"),
    ],
)
def test_a_proof_of_another_demand_is_refused(
    folder: Path, changed: dict[str, Any], differing: str
) -> None:
    run(definition(folder), proof=folder / "proof.jsonl")
    (failure,) = checked(folder, definition(folder, **changed)).verdict.failures
    assert failure.name == "proof: subject"
    assert differing in failure.saw


def test_a_proof_about_a_source_that_changed_is_refused(folder: Path) -> None:
    run(definition(folder), proof=folder / "proof.jsonl")
    with (folder / "people.csv").open("a", encoding="utf-8") as file:
        file.write("40,101,nurse,flu,9\n")
    (failure,) = checked(folder, definition(folder)).verdict.failures
    assert "records" in failure.saw
    assert "input_sha256" in failure.saw


def test_a_proof_names_columns_and_no_value(folder: Path) -> None:
    run(definition(folder), proof=folder / "proof.jsonl")
    header, *boxes = (folder / "proof.jsonl").read_text(encoding="utf-8").splitlines()
    assert not {"nurse", "baker", "smith", "flu", "113", "11*"} & set(header.split('"'))
    assert all(set(json.loads(box)) == {"why", "lo", "hi"} for box in boxes)


@pytest.mark.slow
def test_a_name_that_ends_in_gz_is_packed(folder: Path) -> None:
    run(definition(folder), proof=folder / "proof.jsonl.gz")
    assert gzip.decompress((folder / "proof.jsonl.gz").read_bytes()).startswith(b'{"shoal proof"')
    assert checked(folder, definition(folder), "proof.jsonl.gz").verdict.safe


def test_a_search_that_is_stopped_writes_no_proof(folder: Path) -> None:
    result = run(
        definition(
            folder, search={"gap": 0.999, "strategy": "box", "parameters": {"in_numpy": True}}
        ),
        proof=folder / "proof.jsonl",
    )
    assert result.status == "feasible"
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "release.csv"]


def test_an_old_proof_stays_when_a_run_fails(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "proof.jsonl").write_text("old")
    monkeypatch.setattr("shoal.steps.releasing.recoding", lambda *rest, **named: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(definition(folder), proof=folder / "proof.jsonl")
    assert (folder / "proof.jsonl").read_text() == "old"
    assert sorted(path.name for path in folder.iterdir()) == ["people.csv", "proof.jsonl"]


def test_only_the_box_search_writes_a_proof(folder: Path) -> None:
    mapping = definition(folder, search={"strategy": "exhaustive"})
    with pytest.raises(BadOutput, match="'exhaustive' writes no proof") as caught:
        run(mapping, proof=folder / "proof.jsonl")
    assert caught.value.code == "no-proof"
    assert not (folder / "release.csv").exists()


def test_a_proof_that_cannot_be_written_is_refused_before_the_search(folder: Path) -> None:
    with pytest.raises(BadOutput):
        run(definition(folder), proof=folder / "nowhere" / "proof.jsonl")
    assert not (folder / "release.csv").exists()


HEADER = '{"shoal proof": 1, "attributes": [{}, {}], "best": %s}\n'
BEST = '{"levels": [0, 1], "loss": 0.5, "suppressed": 0}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "does not begin like a proof"),
        ("[]\n", "has no object at line 1"),
        ("{]\n", "is not JSON at line 1"),
        ('{"status": "optimal"}\n', "does not begin like a proof"),
        ('{"shoal proof": 2}\n', "is of another version than 1"),
        ('{"shoal proof": 1}\n', "names no attributes"),
        (HEADER % "null", "states no best node"),
        (HEADER % BEST.replace("0.5", '"0.5"'), "states no levels, loss and suppressed records"),
        (HEADER % BEST.replace("[0, 1]", "[0]"), "states no levels, loss and suppressed records"),
        (HEADER % BEST + '{"why": "bound", "lo": [0, 0], "hi": [0', "is not JSON at line 2"),
        (HEADER % BEST + '{"why": "bound", "lo": [0, 0]}', "has no box of 2 attributes at line 2"),
        (HEADER % BEST + '{"why": "bound", "lo": [0, 0], "hi": [0, 1.5]}', "no box of 2"),
        ("\udcff", "is not UTF-8"),
    ],
)
def test_a_file_that_is_no_proof_is_refused_with_its_line(
    tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "proof.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadData, match=said) as caught:
        read_proof(path)
    assert caught.value.code == "bad-proof"


def test_a_packed_proof_that_is_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "proof.jsonl.gz"
    lines = [json.dumps(vars(Closed("bound", (i, 0), (i, i * i)))) for i in range(300)]
    whole = gzip.compress((HEADER % BEST + "\n".join(lines)).encode())
    path.write_bytes(whole)
    whole_proof = read_proof(path)
    assert isinstance(whole_proof, Proof)
    assert len(whole_proof.boxes) == 300
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadData, match="cannot be read"):
        read_proof(path)
    path.write_bytes(b"no gzip")
    with pytest.raises(BadData, match="cannot be read"):
        read_proof(path)
    with pytest.raises(BadData, match="No such file"):
        read_proof(tmp_path / "none.jsonl")
