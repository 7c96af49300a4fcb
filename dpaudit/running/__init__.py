"""Calls in a process of their own, which may crash, hang or take all memory there without harm to the caller."""
