"""The checks of a lesson that exists only in tests: cheap, and with evidence that only right code gives."""
