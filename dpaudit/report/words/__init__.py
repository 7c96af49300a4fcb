"""The words of reports: a module for each kind of finding, and `finding`, which speaks of any of them."""
