"""Data marts: several linked sources, one request, one safe release.

A *catalog* names sources, what identifies a person, how the sources are linked, which columns each
shares, and the policy. A *request* asks for some of these columns and records; its answer is one
release, in which every class of each source's quasi-identifiers has k persons.

Read in this order:

- catalog.py and request.py: the models of the two files; policy.py: what a request may ask for.
- read.py reads them (with conditions.py, lookups.py, xml_read.py, explain.py); mistakes.py,
  link_mistakes.py and derived_mistakes.py find what is wrong; write.py and xml_write.py go back
  to text.
- check.py checks a catalog against its sources; describe.py shows it without any records.
- expressions: the small language of derived columns.
- sources.py opens the sources; linking joins them to one table.
- pipeline.py: a request from beginning to end; log.py: the record of all requests.
"""
