"""One of the packs of a data set: its index, the decoder of its members, and the label of each image."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from course_utils.data.member_decoders import MemberDecoder, decoder
from course_utils.data.pack import INFO_NAME, PackError, RawLayout
from course_utils.data.pack_access import layout_to_read, open_indexed_pack, require_labels
from course_utils.data.zips.errors import sample_error
from course_utils.data.zips.zip_file import index_path
from course_utils.data.zips.zip_index import ZipIndex


@dataclass(frozen=True)
class Shard:
    """An open pack.

    Args:
        index: Where each member lies.
        decoder: Decodes its members.
        names: Encoded names of the images, sorted.
        labels: int64, of each image.
        members: Position of each image in the index.
    """

    index: ZipIndex
    decoder: MemberDecoder
    names: np.ndarray
    labels: np.ndarray
    members: np.ndarray

    def error(self, member: int, error: Exception) -> PackError:
        """Return an error that names the file and the member; one without a kind is a damaged sample."""
        return sample_error(f"{self.index.path}: {self.index.name(member)}", error)

    def verify_if_changed(self) -> None:
        """Compare checksums from now on if the file has changed since it was opened."""
        if not self.decoder.check and self.index.has_changed():
            self.decoder.check = True


def open_shard(path: str | Path, layout: RawLayout | None, verify: bool) -> Shard:
    """Open a pack; a saved index beside it is used.

    Args:
        path: The pack.
        layout: Of raw members, for a pack that does not state it.
        verify: Compare each member that is read with its checksum.

    Raises:
        FileNotFoundError: There is no such file.
        PackError: It is damaged, a member has no label, or `layout` contradicts it.
    """
    index, info = open_indexed_pack(path, index_path(path))
    description = index.find(INFO_NAME)
    encoded = np.delete(index.table["name"], description)
    names = [name.decode() for name in encoded]
    require_labels(path, names, info)
    labels = np.fromiter((info.labels[name] for name in names), np.int64, len(names))
    members = np.delete(np.arange(len(index)), description)
    return Shard(index, decoder(index, layout_to_read(path, info, layout), verify), encoded, labels, members)
