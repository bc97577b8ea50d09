"""Warnings: what a release discloses beyond its quasi-identifiers, which no demand covers.

Read in this order:
- `examine.py`: every warning of a run or of `shoal check`, column by column, and what `strict`
  makes of them; identifiers that repeat although the definition counts records.
- `kept.py`: one column that is released unchanged: how it is counted, with as few queries as
  possible; nearly unique values and free text; whether it discloses a generalized quasi-identifier.
- `recoded.py`: which label each record has where local recoding mixes the levels.

All numbers are counted in the source, where the data is, and no value is in a warning.
"""
