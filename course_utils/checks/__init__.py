"""One module per lesson: what each exercise is checked by."""
