"""`shoal run --proof` and `shoal verify --proof` as a user meets them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from commands import leftovers, shoal
from shoal.demo.files import write_demo

VERIFY = ("verify", "--definition", "patients.yaml", "--proof", "proof.jsonl.gz")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demonstration, released with a proof."""
    folder = tmp_path_factory.mktemp("demo")
    write_demo(folder, records=2000)
    done = shoal(
        "run", "patients.yaml", "--proof", "proof.jsonl.gz", "--json", "result.json", folder=folder
    )
    assert done.returncode == 0, done.stderr
    assert "Proof:   proof.jsonl.gz" in done.stdout
    assert leftovers(folder) == []
    return folder


@pytest.mark.slow
def test_the_proof_of_the_demonstration_holds_with_its_release_and_result(demo: Path) -> None:
    done = shoal(*VERIFY, "release.csv", "--result", "result.json", folder=demo)
    assert done.returncode == 0
    assert done.stdout.startswith("Yes: release.csv is safe, and proof.jsonl.gz holds.")
    assert "proof: levels" in done.stdout
    assert "checked all " in done.stdout


@pytest.mark.slow
def test_a_proof_is_checked_without_a_release_and_in_a_sample(demo: Path) -> None:
    done = shoal(*VERIFY, "--sample", "5", "--seed", "1", "--json", folder=demo)
    verdict = json.loads(done.stdout)
    assert done.returncode == 0
    assert verdict["safe"] is True
    names = [finding["name"] for finding in verdict["findings"]]
    assert names == ["proof: subject", "proof: best node", "proof: cover", "proof: reasons"]
    assert verdict["findings"][3]["saw"].startswith("checked 5 of ")
    assert "drawn with seed 1" in verdict["findings"][3]["saw"]


@pytest.mark.slow
def test_a_proof_without_its_last_box_is_refused(demo: Path) -> None:
    lines = gzip.decompress((demo / "proof.jsonl.gz").read_bytes()).splitlines(keepends=True)
    (demo / "short.jsonl").write_bytes(b"".join(lines[:-1]))
    done = shoal(*VERIFY[:-1], "short.jsonl", folder=demo)
    assert done.returncode == 4
    assert done.stdout.startswith("No: short.jsonl does not hold.")
    assert "no box has the nodes from" in " ".join(done.stdout.split())


@pytest.mark.slow
def test_a_release_at_other_levels_than_the_proved_ones_is_refused(demo: Path) -> None:
    options = ("--suppression", "0", "--output", "other.csv", "--json", "other.json", "--quiet")
    assert shoal("run", "patients.yaml", *options, folder=demo).returncode == 0
    done = shoal(*VERIFY, "other.csv", folder=demo)
    assert done.returncode == 4
    assert done.stdout.startswith("No: other.csv is not safe, or proof.jsonl.gz does not hold.")
    done = shoal(*VERIFY, "other.csv", "--result", "other.json", folder=demo)
    assert done.returncode == 4
    assert "the result states others than the proof" in " ".join(done.stdout.split())


@pytest.mark.slow
def test_something_must_be_given_to_verify(demo: Path) -> None:
    done = shoal("verify", "--definition", "patients.yaml", folder=demo)
    assert done.returncode == 2
    assert "--proof" in done.stderr


@pytest.mark.slow
def test_a_stopped_search_says_that_there_is_no_proof(demo: Path) -> None:
    text = (demo / "patients.yaml").read_text(encoding="utf-8")
    (demo / "gap.yaml").write_text(
        f"{text}\nsearch: {{gap: 0.999, strategy: box, parameters: {{in_numpy: true}}}}\n",
        encoding="utf-8",
    )
    options = ("--output", "gap.csv", "--proof", "gap.jsonl", "--quiet")
    done = shoal("run", "gap.yaml", *options, folder=demo)
    assert done.returncode == 0
    assert done.stderr == "No proof was written to gap.jsonl: the search was stopped early.\n"
    assert not (demo / "gap.jsonl").exists()


@pytest.mark.slow
def test_a_proof_may_not_overwrite_another_file_of_the_run(demo: Path) -> None:
    done = shoal("run", "patients.yaml", "--proof", "patients.csv", folder=demo)
    assert done.returncode == 2
    assert "the proof would overwrite another file: 'patients.csv' is a file" in done.stderr
