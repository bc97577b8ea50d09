"""Remember which methods take an argument, so that NiceGUI makes elements in half the time.

For each of the three collections of an element (classes, style, props) NiceGUI reads the signature
of the method that is called on changes. It is the same method of the same class every time.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from nicegui import helpers


def remember_signatures() -> None:
    """Let NiceGUI look at the signature of each method once."""
    look = helpers.expects_arguments
    known: dict[Callable[..., Any], bool] = {}

    def expects_arguments(func: Callable[..., Any]) -> bool:
        if not isinstance(func, MethodType):
            return look(func)  # a function may be made anew for every page: do not keep it
        if func.__func__ not in known:
            known[func.__func__] = look(func)
        return known[func.__func__]

    helpers.expects_arguments = expects_arguments
