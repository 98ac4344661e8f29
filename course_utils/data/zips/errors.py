"""The kinds of errors of packs: an invalid pack, a damaged sample, a file that is no longer the same.

What a disk or a file server raises is an `OSError` and stays one.
"""


class PackError(ValueError):
    """A pack or one of its members is invalid; the message names the file and the member."""


class BrokenSampleError(PackError):
    """The bytes of one sample are damaged, or no image: the only kind of failure that a loader may skip."""


class ChangedFileError(PackError):
    """A file is no longer the one that was opened: its samples would come with the labels of another."""


def changed_while_open(where: object) -> ChangedFileError:
    """Return the error for a file whose content is no longer the one that was opened."""
    return ChangedFileError(f"{where}: the file was changed while it was open; open it again")


def sample_error(where: str, error: Exception) -> PackError:
    """Return an error that names the file and the member; its kind stays, and what has none is damage."""
    kind = type(error) if isinstance(error, PackError) else BrokenSampleError
    text = str(error)
    return kind(text if text.startswith(where) else f"{where}: {text}")
