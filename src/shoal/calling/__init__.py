"""What the functions of `import shoal` share before and around their work.

Read in this order:

1. `lazy_package`: public names are imported when they are first used.
2. `public`: the decorator of every public function: misspelt arguments, logs, progress.
3. `argument_types`: the types of what they take; `opened` opens data given in any form.
4. `stated_roles`: the arguments of `anonymize` as attributes of a definition, and `near_misses`:
   what to write in place of arguments that it does not have.
5. `logs`: what is logged; `notebook`: the line of progress below a cell.
"""
