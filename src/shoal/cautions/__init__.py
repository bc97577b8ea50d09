"""What a release tells beyond its quasi-identifiers: warnings that demands do not cover.

Read `look.py` first, then `kept.py` (columns released as they stand), `telling.py` (how much one of
them tells of a quasi-identifier) and `persons.py` (persons with several records).
"""
