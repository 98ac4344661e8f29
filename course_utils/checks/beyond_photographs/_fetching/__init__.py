"""What the check of `fetch_ranges` draws, serves and judges."""
