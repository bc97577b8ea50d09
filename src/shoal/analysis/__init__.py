"""What a custodian looks at before signing: risk, alternatives, use, and reasons.

- Risk: `risk` (one table) with `population`, `keys`, `identifiers`, `uniqueness` and
  `attribute_disclosure`; `before_after` is `shoal.risk`, `risk_report` its look. `table_profile`
  and `column_shape` say what a table has before anything is defined.
- Nodes: `nodes` is what the others share. `solutions`, `lattice` and `frontier` (with `grid` and
  `trade_off`); `feasibility` is what is known before a search, `best_node` a search without its
  release. `explore`, `one_node`, `side_by_side` and `hasse` are what pages show of nodes.
- Use: `released` finds the written release in its source, a node or a `mixed_release` of local
  recoding. `measures` has every loss and quality (`quality`, `squared_errors`, `mixed_quality`),
  `columns` and `distributions` compare columns, `classifier` predicts one; `utility` has all.
- Questions: `what_if` (`minimal` nodes below), `explain` with `explain_local` for local recoding,
  `explain_result` for the result of a run, and `explanation`, the value that all of them give.
"""
