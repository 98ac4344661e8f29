"""Build the book of the course: a site to read, and one for teachers, both without network access."""
