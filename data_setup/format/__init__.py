"""Format of a set on disk: layout, manifest, errors and the lock of a set."""
