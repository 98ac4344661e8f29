"""What the lessons import and what grades them: one sub-package per subject."""
