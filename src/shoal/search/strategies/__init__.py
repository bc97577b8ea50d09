"""Ways to search the lattice, all on the same problem, limits and events."""
