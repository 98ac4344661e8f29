"""Checks of the exercises: one package per lesson, one module per exercise."""
