"""Read a tar strictly: `tarfile` takes a damaged header, or a cut, for the end, and says nothing.

The headers of a tar have checksums. The contents of its files have none, nor has the text of the additional
headers that hold names of more than 100 characters: of those, only the structure is checked.
"""

import struct
import tarfile
from typing import IO, Literal

BUFFER = 1 << 15  # bytes a read of a stream; tarfile copies the rest of them for each header and file
CHUNK = 1 << 20
END = 2 * tarfile.BLOCKSIZE  # two blocks of zeros end a tar; more of them fill its last record
# Bytes of a record that programs write: 10 kB unless they are told otherwise, 32 kB to 1 MiB for tapes.
RECORDS = tuple(tarfile.BLOCKSIZE << power for power in range(6, 12))
MALFORMED = (ValueError, OverflowError, LookupError, struct.error, EOFError)


class WholeMember(tarfile.TarInfo):
    """A member of a tar; a header that is damaged, or an end that is none, is an error."""

    @classmethod
    def fromtarfile(cls, tar: tarfile.TarFile) -> "WholeMember":
        """Read the next header.

        Raises:
            EOFHeaderError: The tar ends here, as it should.
            ReadError: It is damaged or incomplete.
        """
        file: IO[bytes] = tar.fileobj  # type: ignore[assignment]  # None for a closed one
        start = file.tell()
        try:
            return super().fromtarfile(tar)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]  # the stub lacks it
            _require_end(file, start)
            raise
        except (tarfile.HeaderError, *MALFORMED) as error:
            raise _damage(start) from error


def open_tar(file: IO[bytes], mode: Literal["r:", "r|"] = "r:") -> tarfile.TarFile:
    """Open an uncompressed tar; while its members are listed, each damage that can be seen is an error.

    Args:
        file: An open file.
        mode: "r:" goes from header to header, and "r|" reads all bytes once in their order.

    Raises:
        tarfile.ReadError: It is no tar, is damaged, or has no end; also while it is listed and read.
    """
    return tarfile.open(fileobj=file, mode=mode, tarinfo=WholeMember, bufsize=BUFFER)


def _require_end(file: IO[bytes], start: int) -> None:
    """Check that nothing but the zeros of an end comes after the first block of them."""
    block = bytes(CHUNK)
    while len(block) == CHUNK:
        block = file.read(CHUNK)
        if block.count(0) < len(block):
            raise _damage(start)
    size = file.tell()
    zeros = size - start
    if zeros < END:
        raise _damage(start)
    if zeros >= END + tarfile.RECORDSIZE and not any(
        size % record == 0 and zeros < END + record for record in RECORDS
    ):
        raise tarfile.ReadError(
            f"after {start:,} bytes come {zeros:,} zeros, more than end an archive: files may be missing"
        )


def _damage(start: int) -> tarfile.ReadError:
    return tarfile.ReadError(f"after {start:,} bytes comes neither a file nor the end of the archive")
