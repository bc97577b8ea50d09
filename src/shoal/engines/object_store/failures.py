"""Errors of a storage in our words; those of boto3 may have parts of requests in them."""

from __future__ import annotations

import re

from shoal.errors import BadData, BadOutput, UserError

_CODES = {
    "NoSuchBucket": "no-bucket",
    "NoSuchKey": "no-file",
    "404": "no-file",
    "PreconditionFailed": "source-changed",
    "412": "source-changed",
    "AccessDenied": "no-permission",
    "403": "no-permission",
    "AllAccessDisabled": "no-permission",
    "InvalidAccessKeyId": "login-refused",
    "SignatureDoesNotMatch": "login-refused",
    "ExpiredToken": "login-refused",
    "InvalidToken": "login-refused",
}
_MESSAGES = {
    "no-bucket": ("there is no such bucket", "check its name, and AWS_ENDPOINT_URL_S3"),
    "no-file": ("there is no such object", "check the key; it may have been removed meanwhile"),
    "source-changed": (
        "the object was replaced while it was read",
        "run again when nobody writes to it",
    ),
    "no-permission": (
        "the storage does not allow that",
        "allow s3:GetObject and s3:ListBucket to read, s3:PutObject and s3:DeleteObject to write",
    ),
    "login-refused": (
        "the storage refused the credentials",
        "see AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the profile in ~/.aws/credentials",
    ),
    "no-credentials": (
        "no credentials were found",
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE",
    ),
    "cannot-connect": (
        "the storage cannot be reached",
        "check the network, and AWS_ENDPOINT_URL_S3 if the storage is not Amazon's",
    ),
}


def explained(error: BaseException, shown: str, *, is_output: bool) -> UserError:
    """Our error for one of boto3."""
    kind = type(error).__name__
    response = getattr(error, "response", None)
    code = "storage-error"
    if response is not None:
        kind = str(response.get("Error", {}).get("Code", kind))
        code = _CODES.get(kind, code)
    elif re.search("Credential|Profile|Token", kind):
        code = "no-credentials"
    elif re.search("Connect|Timeout|Endpoint|SSL|Proxy|HTTPClient|IncompleteRead|Streaming", kind):
        code = "cannot-connect"
    return failure(code, shown, is_output=is_output, kind=kind)


def failure(code: str, shown: str, *, is_output: bool, kind: str = "") -> UserError:
    """The error of a code, about what is `shown`; a code without own words names boto3's `kind`."""
    what, hint = _MESSAGES.get(
        code, (f"the storage refused it ({kind})", "look up this code of S3; check the address")
    )
    made = BadOutput if is_output else BadData
    return made(f"{shown}: {what}", code=code, hint=hint)
