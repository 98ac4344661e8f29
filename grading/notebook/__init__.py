"""Submitted notebooks: reading any file, restoring it to the released form, choosing what of it runs."""
