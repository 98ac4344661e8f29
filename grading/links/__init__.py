"""Links in the texts of lessons: to the glossary, to programs and libraries, to the package's sources."""
