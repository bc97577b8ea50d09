"""Words that a reader may not know, explained in one or two sentences each.

`hint(term)` of components.py shows the explanation beside the word; the help of each page lists
them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TERMS: Mapping[str, str] = MappingProxyType(
    {
        "k-anonymity": (
            "Every released record looks the same as at least k - 1 others in all its "
            "quasi-identifiers. Whoever knows somebody's age, sex and postcode finds k records or "
            "more, never one."
        ),
        "class": (
            "All released records that look the same in every quasi-identifier. The smallest "
            "class decides how well the release protects."
        ),
        "identifier": (
            "A column that names a person by itself, such as a name or a number of a card. "
            "It is never released."
        ),
        "quasi-identifier": (
            "A column that others may know about a person, such as age, sex or postcode. Together "
            "such columns can single somebody out, so they are generalized."
        ),
        "sensitive": (
            "A column with what nobody should learn about a person, such as a diagnosis or an "
            "income. It is released as it is; demands on its values protect it."
        ),
        "keep": "A column that is released unchanged and not protected.",
        "drop": "A column that is not released.",
        "person": (
            "The column that says which records belong to one person. With it, k counts persons "
            "and not records."
        ),
        "hierarchy": (
            "How the values of a column become more general step by step: 53115, 5311*, 531**. "
            "Level 0 is the value itself."
        ),
        "level": "How far a column is generalized: 0 is unchanged, each level is more general.",
        "node": (
            "One choice of a level for every quasi-identifier, written like (1, 0, 3). All "
            "records are recoded the same way."
        ),
        "recoding": (
            "Full-domain: every value of a column is released at one level, the same for all "
            "records. Local: each class has its own levels, so that only records that stand out "
            "are generalized far."
        ),
        "effort": (
            "Local recoding improves its classes in rounds, and then proves a bound. More effort "
            "loses a little less detail and proves a higher bound, but takes longer."
        ),
        "combinations": (
            "The different combinations of values that the quasi-identifiers have. Records with "
            "the same combination are recoded alike."
        ),
        "lattice": "All nodes: every combination of levels that the release could have.",
        "suppression": (
            "Records that would stand out are left out of the release, up to the limit that you "
            "set. That often saves detail for all the others."
        ),
        "loss": (
            "The share of detail that generalizing and leaving out takes from the "
            "quasi-identifiers: 0% is the original, 100% says nothing any more."
        ),
        "iyengar": (
            "A generalized value costs the more, the more original values it stands for. A "
            "record that is left out costs everything."
        ),
        "precision": "Each level up costs the same share of the way to the top of its hierarchy.",
        "entropy": "How much information about the original values is lost, in Shannon's sense.",
        "weighted": "Each level costs what the hierarchy's own information loss says.",
        "discernibility": "Each record costs the size of its class: large classes are a loss.",
        "class-size": "How much larger the classes are on average than k demands.",
        "bound": (
            "No recoding that keeps the promise can lose less than this. It is proved, not "
            "estimated."
        ),
        "gap": (
            "How far the best found may still be from the best possible. At 0 it is proved that "
            "nothing better exists."
        ),
        "distinct diversity": (
            "Every class has at least this many different values, so that a class does not give "
            "away its members' value."
        ),
        "entropy diversity": (
            "Like distinct diversity, but the values must also be spread evenly: a class in which "
            "nearly all share one value does not count as diverse."
        ),
        "recursive diversity": (
            "The most frequent value of a class must not dominate: it occurs less than c times as "
            "often as all values from the l-th most frequent on together."
        ),
        "closeness": (
            "The values in every class are spread nearly as in the whole table; t says how far "
            "apart they may be, from 0 (the same) to 1."
        ),
        "alpha": "No value may make up more than this share of a class.",
        "likeness": (
            "No value may be more frequent in a class than in the whole table by more than this "
            "factor: 1 allows up to twice as frequent."
        ),
        "disclosure": (
            "Every value occurs in every class, neither much rarer nor much more often than in the "
            "whole table: the logarithm of the quotient stays below this."
        ),
        "average risk": (
            "The risk of a record is 1 divided by the size of its class: in a class of 5 it is "
            "20%. The average over all released records must not be higher than this."
        ),
        "records above": "At most this share of the records may have a risk above the threshold.",
        "priority": (
            "How much the detail of a column matters to those who will use the release. The search "
            "generalizes columns with low priority first."
        ),
        "limit": "The highest level that a column may be generalized to.",
        "lowest": "The level that a column is generalized to at least.",
        "missing": (
            "Extended: a missing value is a value of its own, and looks like other missing ones. "
            "Basic: records with a missing quasi-identifier are left out before everything else."
        ),
        "kept columns": (
            "Columns that are released unchanged are not generalized. If somebody knows them, they "
            "can still single a record out; Shoal warns when they tell a lot."
        ),
        "k-map": (
            "Like k-anonymity, but counted in the population that the records are a sample of."
        ),
        "prosecutor risk": (
            "The risk that somebody who knows that a person is in the data finds their record."
        ),
        "journalist risk": (
            "The risk that somebody who wants to identify anyone at all finds a record."
        ),
        "marketer risk": "The share of records that can be expected to be identified.",
        "distinction": "The share of different values among the records: 100% when all differ.",
        "separation": (
            "The share of pairs of records that the column tells apart: 100% when all differ."
        ),
    }
)
"""The explanation of each term, by the name that pages use."""
