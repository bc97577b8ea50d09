"""Compile the C sources beside this file into one shared library.

    python -m shoal.search.compiled.build [--checked | --sanitized] [--output FILE]

It is called by the build hook of the package (hatch_build.py) and by developers after a change in
a C file. It uses `CC`, else the C compiler of the machine, else `zig cc` of the ziglang
distribution. It imports nothing but the standard library, because the hook runs it before Shoal and
its dependencies are installed.

The flags allow no reordering of floating-point operations and no fused ones, and the processor is
the baseline of its architecture. So every compiler gives the same results, bit by bit.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Mode = Literal["fast", "checked", "sanitized"]

SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")

FLAGS = (
    "-std=c11",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-Wall",
    "-Wextra",
    "-Wno-unknown-pragmas",
)

MODES: dict[Mode, tuple[str, ...]] = {
    "fast": ("-O3",),
    "checked": ("-O1", "-g", "-DSHOAL_CHECKED"),
    "sanitized": (
        *("-O1", "-g", "-fno-omit-frame-pointer"),
        *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
    ),
}
"""Flags by purpose: for users; with asserted bounds of arrays; with sanitizers of the compiler."""

ZIG_GLIBC = "2.17"
"""The oldest C library on which a build by zig runs."""


class BuildFailed(Exception):
    """The library cannot be compiled here; the text says why, with what the compiler printed."""


@dataclass(frozen=True)
class Compiler:
    """A command that compiles C, and whether it is zig, which builds for old systems too."""

    command: tuple[str, ...]
    is_zig: bool = False


def sources() -> tuple[Path, ...]:
    """The C files that are compiled together, in the order of their names."""
    folder = Path(__file__).parent
    return tuple(sorted((*folder.glob("*.c"), *folder.glob("*.h")), key=lambda file: file.name))


def checksum() -> str:
    """A checksum of the sources and the flags: a library with another one is stale."""
    digest = hashlib.sha256(repr((FLAGS, MODES)).encode())
    for file in sources():
        content = file.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{file.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def library_path() -> Path:
    """Where the library is expected: beside its sources."""
    return Path(__file__).with_name(f"_search{SUFFIX}")


def build(target: Path | None = None, *, mode: Mode = "fast") -> Path:
    """Compile the library to `target`, else beside its sources; the path of the library.

    The file is replaced in one step: processes that have loaded the old one keep it.
    """
    if sys.maxsize < 2**32:
        raise BuildFailed("the compiled search needs a 64-bit Python")
    target = target or library_path()
    compiler = find_compiler()
    if compiler is None:
        raise BuildFailed(
            "no C compiler (cc, gcc, clang, zig) was found; install one, or `pip install ziglang`"
        )
    with _staging(target.parent) as folder:
        staged = folder / target.name
        defined = f'-DSHOAL_SOURCES="{checksum()}"'
        math = () if sys.platform == "win32" else ("-lm",)
        command = (
            *(
                *compiler.command,
                *FLAGS,
                *MODES[mode],
                defined,
                "-shared",
                *_position_independent(),
            ),
            *(str(file) for file in sources() if file.suffix == ".c"),
            *("-o", str(staged), *math),
        )
        _run(command, folder)
        staged.replace(target)
    return target


def find_compiler() -> Compiler | None:
    """The C compiler: `CC`, that of the machine, or zig; None without any.

    On Windows only zig and what `CC` names are used: other compilers there take other options.
    SHOAL_NO_COMPILER makes it find none.
    """
    if os.environ.get("SHOAL_NO_COMPILER"):
        return None
    if os.environ.get("CC"):
        return Compiler(tuple(shlex.split(os.environ["CC"])))
    names = () if sys.platform == "win32" else ("cc", "gcc", "clang")
    found = next((path for path in map(shutil.which, names) if path and _compiles(path)), None)
    if found is not None:
        processor = shlex.split(os.environ.get("ARCHFLAGS", "")) if sys.platform == "darwin" else ()
        return Compiler((found, *processor))
    zig = _zig()
    return None if zig is None else Compiler((zig, "cc", *_zig_target()), is_zig=True)


def _compiles(compiler: str) -> bool:
    """Whether a command compiles and links C: some machines have one without headers or linker."""
    program = (
        "#include <math.h>\n#include <stdint.h>\nint64_t f(double x) { return (int64_t)log(x); }\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "try.c")
        source.write_text(program)
        command = (compiler, "-shared", "-fPIC", str(source), "-o", str(Path(folder, "try")), "-lm")
        try:
            done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
            return done.returncode == 0
        except OSError:
            return False


def _zig() -> str | None:
    """The program zig: of the ziglang distribution, or of the machine."""
    package = importlib.util.find_spec("ziglang")
    folders = (package and package.submodule_search_locations) or ()
    return next(filter(None, (shutil.which("zig", path=each) for each in folders)), None) or (
        shutil.which("zig")
    )


def _zig_target() -> tuple[str, ...]:
    """The baseline processor and the oldest C library; zig would take those of the machine."""
    machine = platform.machine().lower()
    arch = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    if sys.platform == "darwin":
        system = "macos.11.0" if arch == "aarch64" else "macos.10.13"
    elif sys.platform == "win32":
        system = "windows-gnu"
    elif platform.libc_ver()[0] == "glibc":
        system = f"linux-gnu.{ZIG_GLIBC}"
    else:
        system = "linux-musl"
    return ("-target", f"{arch}-{system}", "-mcpu=baseline")


def _position_independent() -> tuple[str, ...]:
    return () if sys.platform == "win32" else ("-fPIC",)


@contextmanager
def _staging(parent: Path) -> Iterator[Path]:
    """A temporary folder beside the target, so that a rename replaces it in one step."""
    try:
        with tempfile.TemporaryDirectory(prefix=".build-", dir=parent) as folder:
            yield Path(folder)
    except OSError as error:
        raise BuildFailed(f"cannot write to {parent}: {error.strerror}") from error


def _run(command: tuple[str, ...], folder: Path) -> None:
    """Run the compiler; the caches of zig go to the temporary folder."""
    caches = {name: str(folder) for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    try:
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=False, env={**os.environ, **caches}
        )
    except OSError as error:
        raise BuildFailed(f"cannot run {command[0]}: {error.strerror}") from error
    if done.returncode != 0:
        raise BuildFailed(f"{shlex.join(command)}\nfailed:\n{done.stderr}{done.stdout}")


def main() -> None:
    """The command: build in place, and say where."""
    import argparse  # every run loads the rest of this file, for the checksum

    parser = argparse.ArgumentParser(prog="python -m shoal.search.compiled.build")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--checked", action="store_const", dest="mode", const="checked")
    kind.add_argument("--sanitized", action="store_const", dest="mode", const="sanitized")
    parser.add_argument("--output", type=Path, help="the library (default: beside its sources)")
    options = parser.parse_args()
    try:
        built = build(options.output, mode=options.mode or "fast")
    except BuildFailed as error:
        sys.exit(str(error))
    sys.stdout.write(f"{built}\n")


if __name__ == "__main__":
    main()
