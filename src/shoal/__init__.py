"""Release tables about people so that every record hides in a crowd, and prove it.

Begin with one of two functions. `anonymize` takes a frame of pandas, polars, Arrow or Spark and
returns a safe one. `run` does what a definition says, a YAML file that `shoal init` writes: from
files, databases or Spark to files, databases or Spark.

    >>> import pandas as pd
    >>> import shoal
    >>> people = pd.DataFrame({
    ...     "zip": ["10115", "10117", "10119", "80331", "80333", "80335"],
    ...     "sex": ["f", "m", "f", "m", "f", "m"],
    ...     "illness": ["flu", "cold", "flu", "cold", "flu", "gout"],
    ... })
    >>> safe, result = shoal.anonymize(
    ...     people, ["zip", "sex"], k=3, sensitive={"illness": 2}, with_result=True
    ... )
    >>> result.verified, shoal.check(safe, ["zip", "sex"]).k >= 3
    (True, True)

To release:
    anonymize       a frame to a safe frame
    run             what a definition says
    apply           new records, recoded as an earlier release was
    mart            several linked sources, one request, one safe release

To judge a table or a release:
    check           how anonymous any table is as it is
    verify          whether a written release is safe
    risk            how likely people are recognised
    utility         what a release is still good for

To decide what to release; nothing is written:
    solutions       the safe transformations that lose least
    lattice         every transformation, safe or not
    frontier        what each k and each suppression limit costs
    explain         why records are suppressed, and what each column costs
    what_if         what single changes would mean
    compare         search strategies on the same data

Beside these: `Client` is a Shoal server from Python, `show_progress` prints how a run gets on, and
every error is a ShoalError with a code. `help(shoal.anonymize)` explains each argument, with an
example; `logging.getLogger("shoal")` has what is logged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shoal.calling.lazy_package import import_when_used

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
    from shoal.report.progress import show_progress
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
    "show_progress": "report.progress",
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
