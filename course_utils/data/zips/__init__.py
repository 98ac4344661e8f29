"""Stored zips: their records and directory, and an index by which any thread or process reads members."""
