"""The recoding plan, and how to keep it: what the engine writes for what the search found.

Read in this order:

1. `recode.py` turns a node, or the levels of each tuple, into the labels of all values and the list
   of classes that are released. The engine of the source does the writing (`shoal.engines`).
2. `transformation.py` writes the plan to a file and reads it back, so that new records can be
   recoded alike (`shoal.applying`); `local_classes.py` has the classes of a local recoding in it.
3. `assignment_file.py` writes in which class of a local release each tuple is, for the verifier.
"""
