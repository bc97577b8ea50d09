"""Packages whose public names are imported when they are first used, so that importing is quick."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from importlib import import_module
from types import ModuleType


class LazyPackage(ModuleType):
    """A package whose public names are functions even where a module has the same name.

    Python puts a module that it has imported into its package under its name, so that the first
    import of the module `shoal.verify` would hide the function `shoal.verify`. That is prevented.
    """

    _modules: Mapping[str, str]
    _packages: Collection[str]

    def __getattr__(self, name: str) -> object:
        if name in self._packages:
            return import_module(f"{self.__name__}.{name}")
        if name not in self._modules:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{self.__name__}.{self._modules[name]}"), name)

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in self._modules and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted((*self._modules, *self._packages))


def import_when_used(
    package: str, modules: Mapping[str, str], packages: Collection[str] = ()
) -> None:
    """Let a package import each of its public names from its module when it is first used.

    `packages` are packages in it whose names are public too.
    """
    found = sys.modules[package]
    found.__dict__.update(_modules=modules, _packages=packages)
    found.__class__ = LazyPackage
