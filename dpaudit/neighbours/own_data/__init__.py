"""Neighbours of a user's own dataset: its records are taken out, changed as attackers would, and put together again.

`tables` has an adapter for each kind of dataset; `backgrounds` the neighbours that are tried; `pairs` the entry point.
"""
