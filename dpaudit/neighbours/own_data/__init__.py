"""Neighbours of somebody's own dataset: its records are told apart, changed as attackers would, and put together.

`tables` says which kinds of datasets there are; `recipes` which neighbours are tried; `make` is where a user begins.
"""
