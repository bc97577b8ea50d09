"""A small catalog of a data mart, which tests change one key of."""

from __future__ import annotations

from typing import Any

CLINIC: dict[str, Any] = {
    "mart": "clinic",
    "log": "mart.log",
    "person": {"source": "patient", "columns": ["PatId"]},
    "sources": {
        "patient": {"source": "patient.csv", "columns": {"sex": "quasi-identifier"}},
        "findings": {
            "source": "findings.csv",
            "columns": {
                "PT": {
                    "role": "quasi-identifier",
                    "hierarchy": {"tree": {"1": ["1a", "1b", "1c", "1mic"], "2": ["2"]}},
                    "information loss": ["0", "0.3", "1"],
                },
                "age": {"role": "quasi-identifier", "hierarchy": {"intervals": ["5", "10"]}},
            },
        },
        "genes": {
            "source": "genes.csv",
            "untransformed": "expressions are known to nobody else",
            "columns": {"g1": "keep", "age": "keep"},
        },
    },
    "links": [
        {"between": {"findings": "PatId", "patient": "PatId"}, "kind": "many-to-one"},
        {"between": {"genes": "PrepId", "findings": "PrepId"}, "kind": "one-to-one"},
    ],
    "maps": {"icd": {"colon": "C18", "heart": "I25"}},
}
