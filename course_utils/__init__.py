"""What the lessons import: one concept per module."""
