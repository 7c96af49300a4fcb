"""The writers of pages and pictures: `python scripts/write.py` lists them, and runs one by its name."""
