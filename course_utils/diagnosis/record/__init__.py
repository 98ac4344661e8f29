"""Hooks in a training script and in its workers, and what they write down."""
