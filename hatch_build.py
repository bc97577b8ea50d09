"""The build hook of the package: compile the search library, and put it into the wheel.

With a C compiler on the machine nothing else is needed. Without one it asks for the `ziglang`
distribution, which contains a compiler, if pip can get it. Where neither is there, or
SHOAL_NO_COMPILER is set, the installation succeeds with a warning: Shoal then searches with NumPy,
which takes longer, and `shoal doctor` says what to do.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from packaging.tags import platform_tags

PACKAGE = "shoal/search/compiled"
ZIG = "ziglang>=0.14"
ZIG_MACHINES = ("aarch64", "amd64", "arm64", "x86_64")


class SearchLibrary(BuildHookInterface[Any]):
    """One wheel per platform for all versions of Python: ctypes loads the library."""

    def dependencies(self) -> list[str]:
        """ziglang, where there is no compiler and it can be installed."""
        compiler = _load_build(self.root).find_compiler()
        if compiler is not None or os.environ.get("SHOAL_NO_COMPILER"):
            return []
        return [ZIG] if _can_get_zig() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile: in place for an editable installation, else into the wheel alone."""
        if self.target_name != "wheel":
            return
        build = _load_build(self.root)
        self._folder = tempfile.TemporaryDirectory()
        target = Path(self._folder.name, build.library_path().name)
        try:
            if version == "editable":
                build.build()
                return
            build.build(target)
        except build.BuildFailed as error:
            self.app.display_warning(
                f"the search was not compiled; Shoal will search with NumPy, which is slow: {error}"
            )
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform(build)}"
        build_data["force_include"][str(target)] = f"{PACKAGE}/{target.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Delete the library that is now in the wheel."""
        if self.target_name == "wheel":
            self._folder.cleanup()


def _load_build(root: str) -> ModuleType:
    """build.py as a module; the package itself cannot be imported without its dependencies."""
    file = Path(root, "src", PACKAGE, "build.py")
    spec = importlib.util.spec_from_file_location("shoal_build", file)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(file)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _can_get_zig() -> bool:
    """Whether pip finds ziglang for this platform: a build requirement that is not found is fatal.

    `-I` leaves the isolated environment of the build, which has no pip. Where there is no pip at
    all, another installer is at work, and the platform decides.
    """
    pip = (sys.executable, "-I", "-m", "pip")
    if subprocess.run((*pip, "--version"), capture_output=True, check=False).returncode != 0:  # noqa: S603
        return platform.machine().lower() in ZIG_MACHINES
    search = (*pip, "index", "versions", "ziglang", "--retries", "0")
    return subprocess.run(search, capture_output=True, check=False).returncode == 0  # noqa: S603


def _platform(build: ModuleType) -> str:
    """The platform tag of the wheel: builds by zig need an old C library, others the machine's.

    A Python for two processors of macOS runs here on one, for which the library is compiled.
    """
    machine = platform.machine()
    old = f"manylinux_{build.ZIG_GLIBC.replace('.', '_')}_{machine}"
    if build.find_compiler().is_zig and old in platform_tags():
        return old
    name = sysconfig.get_platform().replace("universal2", machine)
    return name.replace("-", "_").replace(".", "_")
