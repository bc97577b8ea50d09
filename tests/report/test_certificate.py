"""The checksums of a result and of a report are what `shoal verify` compares."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import shoal
from shoal.definition.read import read
from shoal.report.result import write_result
from shoal.report.run import write_report
from shoal.values import Finding
from shoal.verify.file import verify_file
from shoal.verify.stated import read_stated

DEFINITION = """{source: t.csv, output: OUT, k: 2, attributes: {
q: {role: quasi-identifier, hierarchy: suppress}}}"""


def released(folder: Path, output: str) -> shoal.Result:
    (folder / "t.csv").write_text("q\na\na\nb\nb\n")
    (folder / "d.yaml").write_text(DEFINITION.replace("OUT", output))
    return shoal.run(folder / "d.yaml")


def checksum(folder: Path, output: str, stated: str) -> Finding:
    verdict = verify_file(
        read(folder / "d.yaml"), folder / output, stated=read_stated(folder / stated)
    )
    (found,) = [each for each in verdict.findings if each.name == "checksum"]
    assert all(each.holds for each in verdict.findings if each is not found)
    return found


@pytest.mark.parametrize("output", ["o.csv", "o.parquet", "o.json", "o.xlsx", "o.csv.gz"])
def test_a_result_has_the_checksum_of_the_release_file(tmp_path: Path, output: str) -> None:
    result = released(tmp_path, output)
    bytes_of_it = (tmp_path / output).read_bytes()
    assert result.output_sha256 == hashlib.sha256(bytes_of_it).hexdigest()
    write_result(result, tmp_path / "r.json")
    assert checksum(tmp_path, output, "r.json").holds


@pytest.mark.slow
def test_another_file_with_the_same_records_is_not_that_of_the_result(tmp_path: Path) -> None:
    result = released(tmp_path, "o.csv")
    write_result(result, tmp_path / "result.json")
    write_report(result, read(tmp_path / "d.yaml"), tmp_path / "report.json")
    for stated in ("result.json", "report.json"):
        assert checksum(tmp_path, "o.csv", stated).holds
    lines = (tmp_path / "o.csv").read_text().splitlines()
    (tmp_path / "o.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    for stated in ("result.json", "report.json"):
        assert not checksum(tmp_path, "o.csv", stated).holds


def test_a_result_of_an_earlier_version_without_a_checksum_still_counts(tmp_path: Path) -> None:
    result = released(tmp_path, "o.csv")
    write_result(result, tmp_path / "r.json")
    fields = json.loads((tmp_path / "r.json").read_text())
    del fields["output_sha256"]
    (tmp_path / "r.json").write_text(json.dumps(fields))
    stated = read_stated(tmp_path / "r.json")
    assert verify_file(read(tmp_path / "d.yaml"), tmp_path / "o.csv", stated=stated).safe
