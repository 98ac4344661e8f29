"""Errors that are reported to the user without a traceback."""


class SetupError(Exception):
    """The command cannot continue; the message says why and what to do next."""


class UnreadableError(Exception):
    """A file of the source cannot be decoded; another image replaces it."""
