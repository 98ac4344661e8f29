"""What a person is told when a command cannot do what it was asked for."""


class SetupError(Exception):
    """The command cannot go on; the message says why and what to do next."""


class UnreadableError(Exception):
    """A file of the source is no image that can be decoded; another takes its place."""
