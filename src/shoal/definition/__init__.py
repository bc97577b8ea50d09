"""The definition of a release: what the user asks for. Nothing is read or searched here.

Read `model` first: one frozen model of a whole definition. Its parts are in `sources` and
`outputs`, which share `locations`, in `hierarchies/` (the kinds), `demands` (what is demanded, and
the privacy models and the loss that it means) and `scalars` (shares, durations, paths).

Then read `read`: from a file to the model, or to all mistakes at once. It uses `parse` (YAML, JSON)
or `xml_read` (with `xml_parse`, `xml_mistakes`, `xml_elements`), `explain` (errors of the model in
words) and `check` (mistakes that show only when several keys are looked at). `write` and
`xml_write` go back to text; `json_schema` and `xml_parse` hold the schemas. `draft` proposes a
definition for data (with `draft_persons`, `column_meaning` and `obstacles`).
"""
