"""Inspect an existing set: describe it, verify it against its manifest, or adopt one without a manifest."""
