"""New records recoded as an earlier release was, by its transformation file.

Read in this order:

1. `apply.py` is `shoal.apply`: read the transformation, state it as a definition with one node, and
   release the new records by the steps of every release (`shoal.steps.releasing`).
2. `opening.py` opens what is read and written, `applied.py` is what is returned.
3. `matching.py` compares new data with the transformation: columns, unknown values, labels.
4. `placing.py` finds the classes of new records: at the levels of the transformation, or by
   `covering.py` the finest classes of a local recoding that cover them.
5. `known.py` is a source without the records whose values have no label.
6. `together.py` judges the new records together with an earlier release.
"""
