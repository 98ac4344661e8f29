"""Command-line tool that makes, packs and verifies the data of the course."""
