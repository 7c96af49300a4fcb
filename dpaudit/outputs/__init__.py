"""Outputs of any type taken apart into leaves: numbers, text, bytes, categories and blocks of numbers."""
