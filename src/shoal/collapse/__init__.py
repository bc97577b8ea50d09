"""From a source to the tuples that the search works on, however many there are."""
