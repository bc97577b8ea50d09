"""What a custodian looks at before signing: risk, alternatives, use, and reasons.

Risk:

- `risk`: attackers, class sizes, uniques, persons: `risk_of` measures one table.
- `population`: estimators of how many people are unique in the population.
- `keys`: which sets of columns tell records apart, and the minimal ones that do.
- `identifiers`: columns that look like one of the 18 kinds of identifiers of HIPAA.
- `attribute_disclosure`: classes that disclose a sensitive value.
- `before_after`: the same for files and definitions: `shoal.risk`; `risk_report` is how it looks.

Nodes:

- `solutions`: the least lossy safe nodes, and with `minimal` those with no safe node below them.
- `frontier`: the optimum of a grid of demands (`grid`); `trade_off` has the argument.
- `feasibility`: what is known before any search: the lattice, both its ends, warnings.
- `best_node`: the search of a run without its release.
- `lattice`: every node, safe or not; `hasse` draws nodes. `nodes` is what these
  lists and the questions below share.

Use:

- `released`: finds the written release again in its source: its levels and its classes.
- `quality`, `squared_errors`: ARX's quality measures of a release.
- `mixed_release`, `mixed_quality`: the same for local recoding, by the labels of the release.
- `measures`: every loss and measure of a release, whichever way it was recoded.
- `distributions`, `columns`: columns and pairs of columns, before and after.
- `classifier`: how well a column is predicted from the release and from the source.
- `utility`: all of that for a definition: `shoal.utility`.

Questions about a node:

- `what_if`: a level less, a percent more of suppression: `shoal.what_if`.
- `explain`: why records are suppressed, what each column costs: `shoal.explain`; `explanation` is
  the value it gives, `explain_result` reads the result of a run.
"""
