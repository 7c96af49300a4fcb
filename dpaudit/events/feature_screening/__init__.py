"""A screen of many cheap features of each leaf, for leaks that the values themselves do not show."""
