"""Ways to recode that are not one level for each column."""
