"""The recoding plan: what the engine writes for the chosen node.

`recode.py` turns a node into the label of every value and the list of classes that are released.
The engine of the source does the writing (`shoal.engines`).
"""
