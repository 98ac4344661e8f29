"""Makes, packs and verifies the data of the course."""
