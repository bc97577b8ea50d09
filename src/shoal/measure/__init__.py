"""Measures any table as it is: its classes, its k, and what its classes disclose.

Nothing here knows definitions or judges a release; `shoal check` shows what is measured here, and
the verifier (`shoal.verify`) judges releases by the same counts. Read in this order:

- `classes.py`: the classes of a table with their sizes and sensitive values, from one GROUP BY.
- `persons.py`: the same classes by persons.
- `spread.py` and `distance.py`: one number per privacy model for the sensitive values of a class.
- `disclosure.py`: the strongest demand of each model that all classes of a table meet.
- `matching.py`: matches of records with missing values; `pairs.py` counts them without comparing
  every two records.
- `table.py`: all of it together, `measure`.
"""
