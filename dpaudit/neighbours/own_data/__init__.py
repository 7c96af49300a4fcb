"""Neighbours of somebody's own dataset: the records are told apart, changed in the ways that attackers try, put together.

`tables` says which kinds of datasets there are; `recipes` which neighbours are tried; `make` is where a user begins.
"""
