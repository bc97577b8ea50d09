"""What people and scripts read of a run. Nothing here searches or judges.

- `result` puts the `Result` of a run together, and writes it as JSON; `counts` counts what it says
  of each column and of the risk. `proposal` is what a person sees who is asked before a release.
- `progress`: how a run gets on.
- `sections`: the answers of a result in sentences and titled sections, the same in the terminal,
  in notebooks and in reports. `measured`: the sections with pictures.
- `run`: the report of a run as a file; `comparison`: that of a comparison of strategies.
- `render`: sections as HTML, as text and as Markdown. `drawing`, `pictures` and `points`: inline
  SVG, from text that fits to whole pictures and curves.
- `shown`: the base of values that have a text, a card in a notebook, a data frame and a picture.

A new section of the report is one function in `sections` or `measured`, or in `run` if it needs the
definition.
"""
