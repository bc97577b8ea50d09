"""What people and scripts read of a run. Nothing here searches or judges.

Read in this order:

- `result`: puts the `Result` of a run together, and writes it as JSON; `counts` counts
  what it says of each column and of the risk.
- `progress`: how a run gets on.
- `sections`: the answers of a result in sentences and titled sections, the same in the terminal,
  in notebooks and in reports. `measured`: the sections with pictures.
- `render`: sections as HTML, as text and as Markdown.
- `run`: the report of a run as a file: the answers, what was measured, then what the run rests on.
- `drawing`, `pictures`: inline SVG, from text that fits to whole pictures of a result.
  `points`: curves through points on plain axes.
- `shown`: the base of values that have a text, a card in a notebook, a data frame and a picture.
- `comparison`: the report of a comparison of strategies.

A new section of the report is one function in `sections` or `measured`, or in `run` if it needs the
definition.
"""
