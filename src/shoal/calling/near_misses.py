"""What to write in place of arguments that `shoal.anonymize` does not have.

They are the words of other tools and of papers, keys of a definition that belong elsewhere, and
short names. Each pointer says the right spelling with an example.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_QUASI = 'write quasi_identifiers=["zip", "age"], or the second argument without a name'
_HIERARCHIES = (
    "give each hierarchy with its column, as in "
    'quasi_identifiers={"zip": {"mask": 5}, "age": {"intervals": [5, 10, 20]}}'
)
_COLUMN = (
    "say it of its column, as in "
    'quasi_identifiers={"zip": {"hierarchy": {"mask": 5}, "limit": 3, "priority": 2}}'
)
_DISTINCT = 'write sensitive={"diagnosis": 3} for at least 3 different values in each class'
_ENTROPY = 'write sensitive={"diagnosis": {"diversity": {"entropy": 2}}}'
_RECURSIVE = 'write sensitive={"diagnosis": {"diversity": {"recursive": {"c": 2, "l": 3}}}}'
_CLOSENESS = 'write sensitive={"diagnosis": {"closeness": 0.2}}'
_ALPHA = 'write sensitive={"diagnosis": {"alpha": 0.5}}'
_LIKENESS = 'write sensitive={"diagnosis": {"likeness": 1}}'
_DISCLOSURE = 'write sensitive={"diagnosis": {"disclosure": 1}}'
_SENSITIVE = 'write sensitive={"diagnosis": 3}, or sensitive=["diagnosis"] for 2 different values'
_SUPPRESSION = (
    'write suppression=0.05 or "5%" for records that may be left out; a column is suppressed by '
    'quasi_identifiers={"zip": "suppress"}, or left out by drop=["zip"]'
)
_IDENTIFIERS = 'write identifiers=["name", "email"]'
_K = "write k=5"
_PERSON = 'write person="patient_id"'
_MISSING = 'write missing={"values": ["?", "n/a"]}'
_SEARCH = 'say it in search, as in search={"strategy": "ola", "threads": 2, "gap": 0.01}'
_ENGINE = 'say it in engine, as in engine={"memory limit": "2GB", "threads": 2}'
_TIME = 'write time_limit=60, in seconds, or time_limit="5min"'
_RECODING = 'write recoding="local" or recoding="full-domain"'
_OBSERVE = "write observe=shoal.show_progress; notebooks show progress by themselves"
_RESULT = "write with_result=True: then the frame and its result are returned"
_RISK = 'write risk={"average": 0.1}, or risk={"records above": {"threshold": 0.2, "share": "1%"}}'
_POPULATION = 'write population={"source": "people.csv", "k": 3}'
_FILES = (
    "a frame comes in and a frame goes out: write it with its own library, or release files with "
    'shoal.run({"source": "in.csv", "output": "out.csv", ...})'
)
_CHANCE = "leave it out: nothing here is left to chance, the same call gives the same release"

NEAR_MISSES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("qi", "qis", "qid", "qids", "quasi", "keys", "key_variables"), _QUASI),
        **dict.fromkeys(("quasi_identifer", "quasi_identifers", "quasi_identifier"), _QUASI),
        **dict.fromkeys(("quasiidentifier", "quasiidentifiers", "keyvars"), _QUASI),
        **dict.fromkeys(("hierarchies", "hierarchy", "generalization"), _HIERARCHIES),
        **dict.fromkeys(("generalizations", "generalize", "taxonomies", "mask"), _HIERARCHIES),
        **dict.fromkeys(("limit", "limits", "levels", "max_levels", "priority"), _COLUMN),
        **dict.fromkeys(("priorities", "weights", "node"), _COLUMN),
        **dict.fromkeys(("l", "l_diversity", "ldiversity", "diversity", "distinct"), _DISTINCT),
        **dict.fromkeys(("entropy", "entropy_l"), _ENTROPY),
        **dict.fromkeys(("c", "recursive"), _RECURSIVE),
        **dict.fromkeys(("t", "t_closeness", "tcloseness", "closeness", "distance"), _CLOSENESS),
        "alpha": _ALPHA,
        **dict.fromkeys(("beta", "likeness", "beta_likeness"), _LIKENESS),
        **dict.fromkeys(("delta", "disclosure", "delta_disclosure"), _DISCLOSURE),
        **dict.fromkeys(("sa", "sensitives", "sensitive_attributes", "confidential"), _SENSITIVE),
        **dict.fromkeys(("sensitive_attribute", "sensitive_columns"), _SENSITIVE),
        **dict.fromkeys(("suppress", "supp_level", "max_suppression", "maxsup"), _SUPPRESSION),
        **dict.fromkeys(("suppression_limit", "outliers"), _SUPPRESSION),
        **dict.fromkeys(("id", "ids", "identifier", "ident", "direct_identifiers"), _IDENTIFIERS),
        **dict.fromkeys(("k_anonymity", "kanonymity", "min_size", "n"), _K),
        **dict.fromkeys(("persons", "person_id", "unit", "hhid"), _PERSON),
        **dict.fromkeys(("na", "na_values", "missing_values", "missing_value"), _MISSING),
        **dict.fromkeys(("strategy", "threads", "gap", "algorithm"), _SEARCH),
        **dict.fromkeys(("memory_limit", "spill_folder", "tuples"), _ENGINE),
        **dict.fromkeys(("timeout", "seconds", "max_time"), _TIME),
        **dict.fromkeys(("local", "method", "mode"), _RECODING),
        **dict.fromkeys(("progress", "verbose", "callback", "watch"), _OBSERVE),
        **dict.fromkeys(("result", "return_result", "report"), _RESULT),
        **dict.fromkeys(("average_risk", "max_risk", "threshold"), _RISK),
        **dict.fromkeys(("k_map", "kmap", "presence", "delta_presence"), _POPULATION),
        **dict.fromkeys(("source", "output", "path", "file", "url", "spark"), _FILES),
        **dict.fromkeys(("seed", "random_state", "random_seed"), _CHANCE),
    }
)
"""By the word, in small letters."""
