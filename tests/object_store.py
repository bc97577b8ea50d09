"""A server that speaks S3, one for the whole run: moto, which keeps objects in memory."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """The endpoint of a running server."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Bucket:
    """A new bucket, and the environment that leads to it."""
    import boto3

    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3_server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, os.devnull)
    made = Bucket(f"bucket-{secrets.token_hex(4)}", boto3.client("s3", region_name="us-east-1"))
    made.client.create_bucket(Bucket=made.name)
    return made


SECRET = "a key that no message shows"


class Bucket:
    """A bucket as the storage's own client sees it."""

    def __init__(self, name: str, client: Any) -> None:
        self.name, self.client = name, client

    def put(self, key: str, content: str | bytes) -> str:
        """Put an object; gives its URL."""
        self.client.put_object(Bucket=self.name, Key=key, Body=content)
        return self.url(key)

    def get(self, key: str) -> bytes:
        """The content of an object."""
        content: bytes = self.client.get_object(Bucket=self.name, Key=key)["Body"].read()
        return content

    def listed(self) -> list[str]:
        """The keys of all objects."""
        found = self.client.list_objects_v2(Bucket=self.name)
        return [each["Key"] for each in found.get("Contents", ())]

    def url(self, key: str) -> str:
        """What a definition calls an object."""
        return f"s3://{self.name}/{key}"
