"""The recoding plan, and how to keep it: what the engine writes for the chosen node.

Read in this order:

1. `recode.py` turns a node into the label of every value and the list of classes that are released.
   The engine of the source does the writing (`shoal.engines`).
2. `transformation.py` writes the plan to a file and reads it back, so that new records can be
   recoded alike (`shoal.applying`). It decides how much of a hierarchy such a file may have.
"""
