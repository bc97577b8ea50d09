"""The steps of a run that no other package makes; `shoal.pipeline` calls them.

Read in this order:

1. `search_memory`: whether the search has room in memory, before it begins.
2. `choosing`: a node that a person chose in place of the best one.
3. `local_release`: local recoding in a run, from what is refused to the classes that were found.
   `kept_search` keeps such a search in a file, `other_recoding` says what the other recoding loses.
4. `finding`: the search, for a node or for a local recoding, and what it found.
5. `releasing`: from what was found to a verified release: warn, ask, recode, verify, result.
6. `further_files`: what is written beside it: proof, transformation, assignment.
"""
