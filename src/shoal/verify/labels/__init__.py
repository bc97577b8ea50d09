"""What the labels of each kind of hierarchy look like, for the verifier.

Read `built` first: the two questions, what builders share, and `suppress`, masks and dates.
`ranges` has intervals and cuts, `groups` runs of neighbours, `listed` files and trees. Each reads
the kind from the definition alone, without the code that builds it, so that a fault there is found.
`RebuiltLabels` in `listed` is for all other kinds: it builds their rows once more.
"""
