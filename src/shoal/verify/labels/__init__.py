"""What the labels of each kind of hierarchy look like, for the verifier.

Read `base` first. `ranges`, `dates`, `masked`, `groups` and `listed` each read one or two kinds
from the definition alone, without the code that builds them, so that a fault there is found here.
`RebuiltLabels` in `listed` is for all other kinds: it builds their rows once more.
"""
