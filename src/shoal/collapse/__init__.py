"""From a source to the tuples that the search needs.

- `read`: counts the distinct tuples; says how many fit into memory. Where demands need it, it
  counts the table of the population too.
- `large`: where there are more, finds from counts of few columns which low levels no solution can
  use, so that the tuples are counted from higher levels. Where even those are too many, its error
  names the levels to demand.
"""
