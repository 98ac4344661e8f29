"""Save the offset index of each archive of a set, so that readers need not parse its directory."""

import errno
from contextlib import closing, suppress
from pathlib import Path
from zipfile import BadZipFile

from course_utils.data import index_path
from course_utils.system import remove_temporaries
from data_setup.format.layout import ENCODED, RAW

READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)


def save_indexes(out: Path) -> None:
    """Save the index of each archive that has none; it is a hidden file beside the archive.

    One that is damaged, or that of another archive, readers replace; `verify` tells of a damaged archive.

    Raises:
        OSError: The disk is full, for example; not where the folder cannot be written.
    """
    for path in (path for form in (ENCODED, RAW) for path in sorted((out / form).glob("*.zip"))):
        try:
            remove_temporaries(index_path(path))  # of a command that was killed, perhaps after its last step
            if not index_path(path).exists():
                _save(path)
        except OSError as error:
            if error.errno not in READ_ONLY:
                raise


def _save(path: Path) -> None:
    from course_utils.data import ZipIndex  # loads NumPy, which a complete set does not need

    with suppress(BadZipFile, ValueError), closing(ZipIndex(path)) as index:
        index.save()
