"""What a failed query means for the user; Spark's own message may quote the data."""

from __future__ import annotations

from shoal.engines.failures import CHANGED, source_changed
from shoal.errors import BadData, BadOutput, UserError

UNREADABLE = (
    "MALFORMED",
    "FAILED_READ_FILE",
    "CANNOT_READ_FILE",
    "is not a Parquet file",
    "CSV header does not conform",
    "Malformed ORC file",
)
"""In messages of Spark about a file that is broken or of another format."""
UNSUPPORTED = (
    "PARQUET_TYPE_",
    "UNSUPPORTED_TIME_TYPE",
    "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION",
)
"""How Spark calls a column of a file whose type it does not have."""


def explained(error: Exception, name: str, written: str = "") -> Exception:
    """An error of Spark as one of ours; `name` is read, `written` is written.

    The words that are looked for come before those of a general failure, which wraps them all.
    """
    if not _is_of_spark(error):
        return error
    said = f"{type(error).__name__} {error}"
    if CHANGED in said:
        return source_changed(name)
    if "No space left" in said:
        return BadOutput(
            f"a disk of Spark is full: {written or name}",
            code="disk-full",
            hint="free some space where Spark writes and where it spills (spark.local.dir)",
        )
    if "OutOfMemoryError" in said or "maxResultSize" in said:
        return BadData(
            f"{name} needs more memory than Spark may use here",
            code="out-of-memory",
            hint="raise spark.driver.memory, spark.driver.maxResultSize or spark.executor.memory,"
            " or name fewer quasi-identifiers",
        )
    if "AccessControlException" in said or "Permission denied" in said:
        return BadOutput(
            f"Spark may not {'write ' + written if written else 'read ' + name}",
            code="no-permission",
            hint="ask for the permission, or choose another place",
        )
    if _condition(error).startswith(UNSUPPORTED):
        return BadData(
            f"{name} has a column of a type that Spark cannot read ({_condition(error)})",
            code="unsupported-type",
            hint="leave Spark out and read the files as `source: path`, or write them with a type"
            " that Spark has: microseconds, decimals of at most 38 digits, no times of day",
        )
    if any(words in said for words in UNREADABLE):
        return BadData(
            f"{name} cannot be read by Spark ({_condition(error)})",
            code="unreadable-data",
            hint="see that the files are whole, all of one kind, and of the format that is said",
        )
    return _general(error, name, written)


def _general(error: Exception, name: str, written: str) -> UserError:
    is_lost = "UNAVAILABLE" in f"{error}" and "Grpc" in type(error).__name__
    if is_lost or "Py4JNetworkError" in type(error).__name__ or isinstance(error, ConnectionError):
        return BadData(
            f"the connection to Spark was lost while it worked on {written or name}",
            code="connection-lost",
            hint="nothing was released; see that the cluster is up, and run again",
        )
    return BadData(
        f"Spark failed on {written or name} ({_condition(error)})",
        code="spark-failed",
        hint="nothing was released; Spark's own logs say more",
    )


def not_started(error: Exception, master: str | None) -> UserError:
    """What it means when no session could be made."""
    if isinstance(error, UserError):
        return error
    where = f" on {master}" if master else ""
    return BadData(
        f"Spark could not be started{where} ({_condition(error)})",
        code="spark-not-started",
        hint="see that `pyspark` starts from a terminal here, and what it says",
    )


def _is_of_spark(error: Exception) -> bool:
    """Whether an error comes from PySpark, from Java behind it, or from the way between them."""
    package = type(error).__module__.partition(".")[0]
    return package in ("pyspark", "py4j", "grpc") or isinstance(error, ConnectionError | EOFError)


def _condition(error: Exception) -> str:
    """The name of a failure: never its message."""
    name = getattr(error, "getCondition", lambda: None)()
    if name is None and hasattr(error, "java_exception"):
        name = error.java_exception.getClass().getSimpleName()
    return str(name or type(error).__name__)
