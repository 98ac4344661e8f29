"""Submitted folders: collecting, sanitising and reading them."""
