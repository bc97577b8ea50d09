"""Objects of S3 as sources and outputs, on a server that speaks its protocol."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from commands import leftovers
from commands import shoal as command
from object_store import SECRET, Bucket
from servers import load
from shoal.engines.local_files import HIDDEN, owned
from shoal.engines.object_store import store as object_store
from shoal.engines.object_store.address import Address
from shoal.engines.object_store.store import HiddenObject, Store
from shoal.errors import UserError

DEFINITION: dict[str, Any] = {
    "k": 12,
    "suppression": "10%",
    "attributes": {
        "age": {"role": "quasi-identifier", "hierarchy": {"intervals": [5, 10, 20]}},
        "sex": "quasi-identifier",
        "ill": "keep",
    },
}
PATIENTS = pa.table(
    {
        "age": [str(20 + i % 40) for i in range(400)],
        "sex": ["fm"[i % 2] for i in range(400)],
        "ill": [str(i % 5) for i in range(400)],
    }
)
CSV = "age,sex,ill\n" + "".join("{age},{sex},{ill}\n".format(**row) for row in PATIENTS.to_pylist())


def run(source: Any, output: Any) -> shoal.Result:
    return shoal.run({"source": source, "output": output, **DEFINITION})


def code_of(source: Any, output: Any) -> str:
    with pytest.raises(UserError) as caught:
        run(source, output)
    assert SECRET not in str(caught.value)
    return caught.value.code


@pytest.mark.slow
def test_objects_of_every_format_are_read_and_written_like_files(
    bucket: Bucket, tmp_path: Path
) -> None:
    expected = tmp_path / "expected.csv"
    (tmp_path / "patients.csv").write_text(CSV)
    local = run(str(tmp_path / "patients.csv"), str(expected))
    source = bucket.put("a folder/it's [1].csv", CSV)
    for ending in (".csv", ".csv.gz", ".parquet", ".jsonl", ".xml", ".xlsx"):
        made = run(source, bucket.url(f"out/release{ending}"))
        assert made.verified
        assert (made.output, made.input_sha256) == (
            *(bucket.url(f"out/release{ending}"), local.input_sha256),
        )
        back = run_back(made.output or "", tmp_path / f"back{ending}.csv")
        assert back == expected.read_bytes()
    assert bucket.get("out/release.csv") == expected.read_bytes()

    url = f"sqlite:///{tmp_path / 'patients.db'}"
    load(url, "patients", PATIENTS)
    run({"url": url, "table": "patients"}, bucket.url("out/streamed.csv"))
    assert bucket.get("out/streamed.csv") == expected.read_bytes()

    half = len(PATIENTS) // 2
    for number, part in enumerate((PATIENTS.slice(0, half), PATIENTS.slice(half))):
        pq.write_table(part.drop_columns("sex"), tmp_path / "part.parquet")
        content = (tmp_path / "part.parquet").read_bytes()
        bucket.put(f"lake/sex={'fm'[number]}/part.parquet", content)
    for pattern in ("lake", "lake/", "lake/**/*.parquet", "la?e/sex=[!x]/*.parquet"):
        run(bucket.url(pattern), bucket.url("lake.csv"))
        assert bucket.get("lake.csv").count(b"\n") == 401
    assert not [key for key in bucket.listed() if ".shoal" in key]


def run_back(url: str, path: Path) -> bytes:
    """The release, read again and written as it is."""
    same = dict.fromkeys(("age", "sex"), "quasi-identifier") | {"ill": "keep"}
    shoal.run({"source": url, "output": str(path), "k": 12, "attributes": same})
    return path.read_bytes()


@pytest.mark.slow
def test_what_cannot_be_read_or_written_is_one_clear_error(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, output = bucket.put("in.csv", CSV), bucket.url("out.csv")
    ragged = bucket.put("ragged.csv", "age,sex,ill\n1,2,3\n1,2,3,4\n")
    missing = f"s3://no-such-{bucket.name}/in.csv"
    for named, written, code in (
        (bucket.url("none.csv"), output, "no-file"),
        (bucket.url("none/*.csv"), output, "no-files"),
        (missing, output, "no-bucket"),
        (source, missing, "no-bucket"),
        (source, source, "output-is-source"),
        (bucket.url("*.csv"), output, "output-is-source"),
        (bucket.url("../in.csv"), output, "bad-definition"),
        (source, {"path": bucket.url("x"), "format": "parquet", "file size": 1}, "bad-definition"),
    ):
        assert code_of(named, written) == code, (named, written)
    with pytest.raises(UserError, match=re.escape(ragged)):
        run(ragged, output)
    with monkeypatch.context() as other:
        other.delenv("AWS_ACCESS_KEY_ID")
        other.delenv("AWS_SECRET_ACCESS_KEY")
        assert code_of(source, output) == "no-credentials"
    with monkeypatch.context() as other:
        other.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
        assert code_of(source, output) == "cannot-connect"
        assert code_of(str(tmp_path / "no matter"), output) == "cannot-connect"
    assert bucket.listed() == ["in.csv", "ragged.csv"]


def test_the_codes_of_a_storage_have_errors_of_ours() -> None:
    """Real storages check credentials, which the server of the tests does not."""
    from botocore.exceptions import ClientError

    for theirs, ours in (
        ("InvalidAccessKeyId", "login-refused"),
        ("SignatureDoesNotMatch", "login-refused"),
        ("AccessDenied", "no-permission"),
        ("SlowDown", "storage-error"),
    ):
        error = ClientError({"Error": {"Code": theirs, "Message": SECRET}}, "GetObject")
        with pytest.raises(UserError) as caught, Store("it").explaining():
            raise error
        assert caught.value.code == ours
        assert SECRET not in str(caught.value)


def test_an_endpoint_that_is_no_address_is_an_error_that_names_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "no address")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    with pytest.raises(UserError, match="AWS_ENDPOINT_URL_S3") as caught:
        Store("it").found(Address("bucket", "key"))
    assert caught.value.code == "cannot-connect"


@pytest.mark.slow
def test_an_object_stays_as_it_was_until_another_one_was_verified(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, output = bucket.put("in.csv", CSV), bucket.put("out/it.csv", "old")
    seen: list[list[str]] = []
    download = HiddenObject.download

    def spoiled(hidden: HiddenObject, path: Path) -> None:
        """Another content than was written: what the verifier reads is what was uploaded."""
        seen.append(bucket.listed())
        (key,) = (key for key in bucket.listed() if ".shoal" in key)
        bucket.put(key, "age,sex,ill\n20,f,1\n")
        download(hidden, path)

    with monkeypatch.context() as broken:
        broken.setattr(HiddenObject, "download", spoiled)
        assert code_of(source, output) == "source-changed"
    assert any(".shoal" in key for key in seen[0])
    assert bucket.listed() == ["in.csv", "out/it.csv"]
    with pytest.raises(shoal.Infeasible):
        shoal.run({"source": source, "output": output, **DEFINITION, "k": 401, "suppression": 0})
    assert bucket.get("out/it.csv") == b"old"
    assert run(source, output).verified
    assert bucket.get("out/it.csv").startswith(b"age,sex,ill")


def test_an_object_that_changes_or_vanishes_while_it_is_read_stops_the_run(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = object_store.Store.found

    def after(change: Callable[[], object]) -> Callable[..., Any]:
        def listed(store: Store, address: Address) -> Any:
            there = found(store, address)
            change()
            return there

        return listed

    for change, code in (
        (lambda: bucket.put("in.csv", CSV + "1,f,1\n"), "source-changed"),
        (lambda: bucket.client.delete_object(Bucket=bucket.name, Key="in.csv"), "no-file"),
    ):
        source = bucket.put("in.csv", CSV)
        with monkeypatch.context() as racing:
            racing.setattr(object_store.Store, "found", after(change))
            assert code_of(source, str(tmp_path / "release.csv")) == code


@pytest.mark.slow
def test_what_a_killed_run_left_is_removed_by_the_next_one_and_by_clean(
    bucket: Bucket, tmp_path: Path
) -> None:
    source, output = bucket.put("in.csv", CSV), bucket.url("out/it.csv")
    mine = owned(HIDDEN)
    dead = mine.replace(str(os.getpid()), "999999999", 1)
    bucket.client.create_multipart_upload(Bucket=bucket.name, Key=f"out/{dead}1")
    for name in (dead, mine):
        bucket.put(f"out/{name}0", "staged")
    definition = tmp_path / "it.json"
    definition.write_text(json.dumps({"source": source, "output": output, **DEFINITION}))
    listed = command("clean", "it.json", "--dry-run", folder=tmp_path)
    assert f"would remove the object out/{dead}0" in listed.stdout
    assert run(source, output).verified
    assert [key for key in bucket.listed() if ".shoal" in key] == [f"out/{mine}0"]
    uploads = bucket.client.list_multipart_uploads(Bucket=bucket.name)
    assert uploads.get("Uploads", []) == []
    bucket.put(f"out/{dead}0", "staged")
    assert f"removed the object out/{dead}0" in command("clean", "it.json", folder=tmp_path).stdout
    assert leftovers(tmp_path) == []


def test_a_pattern_of_keys_means_what_a_pattern_of_paths_does() -> None:
    for pattern, key, expected in (
        ("a/*.csv", "a/b.csv", True),
        ("a/*.csv", "a/b/c.csv", False),
        ("a/**/*.csv", "a/b.csv", True),
        ("a/**/*.csv", "a/b/c/d.csv", True),
        ("a/b[0-9]?.csv", "a/b1x.csv", True),
        ("a/b[!0-9].csv", "a/b1.csv", False),
        ("a.b", "axb", False),
        ("a/**", "a/b.csv", True),
        ("a/**", "a/b/c.csv", True),
        ("a/b**", "a/bc/d.csv", False),
        ("a/b**/c.csv", "a/bd/e/c.csv", False),
        ("a/", "a/b.parquet", True),
        ("a", "ab", False),
    ):
        assert Address("bucket", pattern).matches(key) is expected, (pattern, key)
