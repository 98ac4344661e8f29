"""Run a training script unchanged, and say why it waits for its data: `python -m course_utils.diagnosis`.

It imports torch, NumPy and the standard library alone, so that it works as one file in any environment.
"""
