"""Right and wrong answers to each exercise: tests judge them, and the teachers' book shows them."""
