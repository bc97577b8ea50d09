"""Shoal: release tabular microdata so that every record hides in a crowd, and prove it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.lazy_package import import_when_used

if TYPE_CHECKING:
    from shoal import mart
    from shoal.analysis.before_after import risk
    from shoal.analysis.explain import explain
    from shoal.analysis.explanation import Explanation
    from shoal.analysis.frontier import Frontier, frontier
    from shoal.analysis.lattice import LatticeNodes, lattice
    from shoal.analysis.risk_report import RiskReport
    from shoal.analysis.solutions import Solutions, solutions
    from shoal.analysis.utility import UtilityReport, utility
    from shoal.analysis.what_if import WhatIf, what_if
    from shoal.anonymize import anonymize
    from shoal.applying.applied import Applied
    from shoal.applying.apply import apply
    from shoal.checking import check, verify
    from shoal.client import Client
    from shoal.comparing import compare
    from shoal.definition.model import Definition
    from shoal.errors import (
        BadData,
        BadDefinition,
        BadHierarchy,
        BadOutput,
        Declined,
        Infeasible,
        Interrupted,
        Refused,
        ShoalError,
    )
    from shoal.pipeline import run
    from shoal.report.sections import show_progress
    from shoal.values import Comparison, Result, Verdict
    from shoal.version import __version__

_MODULES = {
    "Applied": "applying.applied",
    "BadData": "errors",
    "BadDefinition": "errors",
    "BadHierarchy": "errors",
    "BadOutput": "errors",
    "Client": "client",
    "Comparison": "values",
    "Declined": "errors",
    "Definition": "definition.model",
    "Explanation": "analysis.explanation",
    "Frontier": "analysis.frontier",
    "Infeasible": "errors",
    "Interrupted": "errors",
    "LatticeNodes": "analysis.lattice",
    "Refused": "errors",
    "Result": "values",
    "RiskReport": "analysis.risk_report",
    "ShoalError": "errors",
    "Solutions": "analysis.solutions",
    "UtilityReport": "analysis.utility",
    "Verdict": "values",
    "WhatIf": "analysis.what_if",
    "__version__": "version",
    "anonymize": "anonymize",
    "apply": "applying.apply",
    "check": "checking",
    "compare": "comparing",
    "explain": "analysis.explain",
    "frontier": "analysis.frontier",
    "lattice": "analysis.lattice",
    "risk": "analysis.before_after",
    "run": "pipeline",
    "show_progress": "report.sections",
    "solutions": "analysis.solutions",
    "utility": "analysis.utility",
    "verify": "checking",
    "what_if": "analysis.what_if",
}

__all__ = [
    "Applied",
    "BadData",
    "BadDefinition",
    "BadHierarchy",
    "BadOutput",
    "Client",
    "Comparison",
    "Declined",
    "Definition",
    "Explanation",
    "Frontier",
    "Infeasible",
    "Interrupted",
    "LatticeNodes",
    "Refused",
    "Result",
    "RiskReport",
    "ShoalError",
    "Solutions",
    "UtilityReport",
    "Verdict",
    "WhatIf",
    "__version__",
    "anonymize",
    "apply",
    "check",
    "compare",
    "explain",
    "frontier",
    "lattice",
    "mart",
    "risk",
    "run",
    "show_progress",
    "solutions",
    "utility",
    "verify",
    "what_if",
]


import_when_used(__name__, _MODULES, packages=("mart",))
