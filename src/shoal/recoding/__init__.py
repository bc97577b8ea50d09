"""Ways to recode a table that are not one level for each column.

- `local`: every class of records has its own levels.

Full-domain recoding, one level for each column, is what `shoal.search` finds.
"""
