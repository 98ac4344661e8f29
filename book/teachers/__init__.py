"""The book for teachers: what the lessons, their checks and the bank of answers know, and pages by hand."""
