"""What the check of `stage` does: calls, situations, and the verdict on what they led to."""
