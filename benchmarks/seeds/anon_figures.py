"""The charts of the ANON report, one for each of its figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LATTICES = (5, 10, 20, 60, 240, 720, 2160)
"""Nodes with 1 to 7 quasi-identifiers."""

STYLES_3 = ("C0o-", "C4o--", "C2s-", "C1s--", "C3:", "kx-")
STYLES_K = {
    "k, 0 %": "C1o-",
    "k, 1 %": "C0s-",
    "k, 10 %": "C4^-",
    "k, l=(2,k), 0 %": "C2o-",
    "k, l=(2,k), 1 %": "C9s-",
    "k, l=(2,k), 10 %": "C6^-",
    "k, 1 %, no priorities": "C1D-",
    "k, l=(2,k), 1 %, no priorities": "C3D-",
}


def figure_3(sizes: range, visited: Mapping[str, Sequence[float]]) -> Figure:
    """Visited nodes by the number of quasi-identifiers."""
    figure, axes = _empty("Figure 3: visited nodes", "quasi-identifiers", "nodes")
    for (name, nodes), style in zip(visited.items(), STYLES_3, strict=False):
        axes.plot(sizes, nodes, style, label=name)
    axes.plot(sizes, LATTICES[: len(sizes)], "0.6", linewidth=5, alpha=0.4, label="the lattice")
    if sizes[-1] == 7:
        axes.plot([7.12, 7.12], [1075, 60], "k*", markersize=9, label="the report: 1,075 and 60")
    _logarithmic(axes, sizes)
    figure.legend(loc="outside right upper")
    return figure


def figure_4(sizes: range, seconds: Mapping[str, Sequence[float]]) -> Figure:
    """Seconds by the number of quasi-identifiers."""
    figure, axes = _empty("Figure 4: time", "quasi-identifiers", "seconds")
    for (name, numbers), style in zip(seconds.items(), STYLES_3, strict=True):
        axes.plot(sizes, numbers, style, label=name)
    _logarithmic(axes, sizes)
    figure.legend(loc="outside right upper")
    return figure


def by_k(title: str, ks: Sequence[int], visited: Mapping[str, Sequence[float]]) -> Figure:
    """Visited nodes by k; white markers for lines with diversity, as in the report."""
    figure, axes = _empty(title, "k", "visited nodes")
    names = [str(k) for k in ks]
    for name, nodes in visited.items():
        fill = "white" if "l=" in name else None
        axes.plot(names, nodes, STYLES_K[name], label=name, markerfacecolor=fill)
    if "k, 0 %" in visited and "1000" in names:
        axes.plot(["2", "10"], [1075, 1255], "k*", markersize=10, label="the report")
    figure.legend(loc="outside right upper")
    return figure


def figure_7(diversities: Sequence[int], visited: Mapping[str, Sequence[float]]) -> Figure:
    """Visited nodes by the diversity of the occupation."""
    figure, axes = _empty("Figure 7: diversity, k = 14, 1 % suppression", "l", "visited nodes")
    for (name, nodes), style in zip(visited.items(), ("C6^-", "C9^-", "C0o-", "C1o-"), strict=True):
        fill = "white" if "without" in name else None
        axes.plot(diversities, nodes, style, markerfacecolor=fill, label=name)
    for size in {int(name[0]) for name in visited}:
        axes.axhline(LATTICES[size - 1], color="C3", linestyle=":")
    axes.set_xticks(diversities)
    figure.legend(loc="outside right upper")
    return figure


def _empty(title: str, x: str, y: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=x, ylabel=y)
    return figure, axes


def _logarithmic(axes: Axes, sizes: range) -> None:
    axes.set_yscale("log")
    axes.set_xticks(list(sizes))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
