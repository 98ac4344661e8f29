"""The teacher's side: running submissions safely and writing their marks."""
