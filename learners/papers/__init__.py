"""The papers' statements, one module a paper or a part of it, with the checks that decide them."""
