"""Draw damaged tars of pictures and labels, and what can be saved from each."""

import io
import tarfile
from dataclasses import dataclass, field
from typing import Literal, TypedDict

import numpy as np

BLOCK = 512
# Bytes of a header in its name, and in its size and time. In the checksum, some wrong bits change nothing.
IN_NAME, IN_NUMBERS = (0,), (125, 130, 133, 137, 140)
END = bytes(2 * BLOCK)
PICTURE, LABEL = "jpg", "cls"


class DamagedTar(TypedDict):
    """A damaged tar and the truth about it.

    Attributes:
        damage: What is wrong with it, for messages.
        tar: Its bytes.
        kept: Name and data of each member of a whole sample, in order.
        lost: The keys of the samples of which only a part can be read, in order.
        found: The names of all members with an undamaged header.
        decoys: The names in what looks like headers, but is data of a picture.
    """

    damage: str
    tar: bytes
    kept: list[tuple[str, bytes]]
    lost: list[str]
    found: list[str]
    decoys: list[str]


@dataclass
class Member:
    """A member of a tar; the header of a damaged one has a wrong bit in one of some places."""

    name: str
    data: bytes
    damaged: tuple[int, ...] = ()

    @property
    def key(self) -> str:
        """The name without its extension, which both members of a sample share."""
        return self.name.rpartition(".")[0]


@dataclass
class Builder:
    """Draws samples, and builds tars of them.

    Args:
        rng: Draws names, data and damage.
        format: `tarfile.GNU_FORMAT` or `tarfile.PAX_FORMAT`: how long names are stored.
        drawn: How many samples were drawn; their numbers differ.
    """

    rng: np.random.Generator
    format: Literal[1, 2] = tarfile.GNU_FORMAT
    drawn: int = field(default=0)

    def sample(self, name: str = "", size: int = 0, label_first: bool | None = None) -> list[Member]:
        """Draw the picture and the label of a sample, in either order."""
        self.drawn += 1
        key = f"{name or 'train/img.'}{self.drawn:03d}"
        picture = Member(f"{key}.{PICTURE}", self.pixels(size or int(self.rng.integers(600, 3000))))
        label = Member(f"{key}.{LABEL}", str(int(self.rng.integers(1000))).encode())
        first = bool(self.rng.integers(2)) if label_first is None else label_first
        return [label, picture] if first else [picture, label]

    def pixels(self, size: int) -> bytes:
        """Draw data of which no block is a header by chance.

        A checksum without digits is 0, and so is, at times, the sum of the bytes as signed numbers: `tarfile`
        then takes the end of a picture, which zeros fill up, for a header.
        """
        while True:
            data = self.rng.bytes(size)
            padded = data + bytes(-size % BLOCK)
            if not any(_is_header(padded[place : place + BLOCK]) for place in range(0, size, BLOCK)):
                return data

    def samples(self, count: int) -> list[Member]:
        """Draw the members of some samples."""
        return [member for _ in range(count) for member in self.sample()]

    def headers(self, member: Member) -> bytes:
        """Return the header of a member, behind an extension header if its name needs one."""
        info = tarfile.TarInfo(member.name)
        info.size, info.mtime = len(member.data), 1_700_000_000
        return info.tobuf(self.format, "utf-8", "surrogateescape")

    def blocks(self, member: Member) -> bytes:
        """Return all blocks of a member."""
        headers = bytearray(self.headers(member))
        if member.damaged:
            headers[len(headers) - BLOCK + int(self.rng.choice(member.damaged))] ^= 1
        return bytes(headers) + member.data + bytes(-len(member.data) % BLOCK)

    def tar(self, damage: str, members: list[Member], decoys: list[str] | None = None) -> DamagedTar:
        """Build a tar that is not cut."""
        tar = b"".join(map(self.blocks, members)) + END
        whole = [member for member in members if not member.damaged]
        return _damaged_tar(damage, tar, whole, whole, decoys)

    def cut(
        self, damage: str, members: list[Member], left: int, header: bool, decoys: list[str] | None = None
    ) -> DamagedTar:
        """Build a tar that ends inside its last member.

        Args:
            damage: What is wrong with it.
            members: Its members.
            left: Bytes that are left of the header, or of the data and what pads them.
            header: Whether the cut is in the header.
            decoys: Names in what looks like headers.
        """
        *before, last = members
        kept = self.blocks(last)
        kept = kept[:left] if header else kept[: len(self.headers(last)) + left]
        found = before if header else members
        whole = members if not header and left >= len(last.data) else before
        tar = b"".join(map(self.blocks, before)) + kept
        return _damaged_tar(damage, tar, found, whole, decoys)


def _is_header(block: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _damaged_tar(
    damage: str, tar: bytes, found: list[Member], whole: list[Member], decoys: list[str] | None = None
) -> DamagedTar:
    """Find out what can be saved.

    Args:
        damage: What is wrong with the tar.
        tar: Its bytes.
        found: The members with an undamaged header.
        whole: Those of them of which all data are there.
        decoys: See `DamagedTar`.
    """
    keys = dict.fromkeys(member.key for member in found)
    parts = {key: [member for member in whole if member.key == key] for key in keys}
    return {
        "damage": damage,
        "tar": tar,
        "kept": [(member.name, member.data) for two in parts.values() if len(two) == 2 for member in two],
        "lost": [key for key, members in parts.items() if len(members) < 2],
        "found": [member.name for member in found],
        "decoys": decoys or [],
    }


def draw_tars(rng: np.random.Generator) -> list[DamagedTar]:
    """Draw a tar for each kind of damage, and some that have none."""
    gnu, pax = Builder(rng), Builder(rng, tarfile.PAX_FORMAT, drawn=500)
    return [
        _whole(gnu),
        _orphans(pax),
        _flipped(pax),
        _flipped(gnu),
        _looks_like_headers(gnu),
        _cut_in_data(gnu, label_first=False),
        _cut_in_data(pax, label_first=True),
        _cut_in_header(gnu),
        _cut_in_padding(pax),
        gnu.tar("a tar without members", []),
        {**gnu.tar("a file of 0 bytes", []), "tar": b""},
    ]


def long_name(rng: np.random.Generator) -> str:
    """Draw the beginning of a name that needs an extension header: it is long, and not ASCII."""
    folders = "/".join(f"größe_{int(rng.integers(1000)):03d}.ж" for _ in range(12))
    return f"{folders}/画像."


def _whole(builder: Builder) -> DamagedTar:
    both_orders = [*builder.sample(label_first=True), *builder.sample(label_first=False)]
    long, full_blocks = builder.sample(long_name(builder.rng)), builder.sample("ümlaut.", 2 * BLOCK)
    empty = builder.sample()
    _one(empty, PICTURE).data = b""
    members = [*both_orders, *long, *full_blocks, *empty, *builder.samples(1)]
    return builder.tar("a tar without damage", members)


def _flipped(builder: Builder) -> DamagedTar:
    """Damage the headers of both members of a sample, of a picture, of a label and of a long name."""
    both, no_picture, no_label = (builder.sample() for _ in range(3))
    long = builder.sample(long_name(builder.rng))
    for member in both:  # in the same way: who trusts the names finds a sample
        member.damaged = IN_NAME
    picture, label = _one(no_picture, PICTURE), _one(no_label, LABEL)
    # Behind the second member of the long name comes a short one, which must not get the long name.
    for member in (picture, label, long[1]):
        member.damaged = IN_NUMBERS
    # Zeros look like the end of the tar to a walk that does not know the size of these data.
    picture.data = builder.pixels(BLOCK) + bytes(4 * BLOCK) + picture.data
    damaged = [[*part, *builder.samples(1)] for part in (both, no_picture, no_label, long)]
    members = [*builder.samples(1), *(member for part in damaged for member in part)]
    return builder.tar("a tar with wrong bits in five headers", members)


def _one(sample: list[Member], kind: str) -> Member:
    return next(member for member in sample if member.name.endswith(kind))


def _looks_like_headers(builder: Builder) -> DamagedTar:
    """Put a small tar into a picture."""
    decoys, members = builder.sample(), builder.samples(3)
    inner = b"".join(map(builder.blocks, decoys))
    _hide(builder, inner, _one(members[2:4], PICTURE))
    names = [decoy.name for decoy in decoys]
    return builder.tar("a tar with a picture whose data look like headers", members, names)


def _hide(builder: Builder, blocks: bytes, picture: Member) -> None:
    picture.data = builder.pixels(BLOCK) + blocks + picture.data


def _orphans(builder: Builder) -> DamagedTar:
    """Leave out a label, a picture, the last label, and one of each of two neighbours of equal file name."""
    no_label, no_picture = builder.sample("./train/img."), builder.sample("train/img.v1.2.")
    last = builder.sample()
    left, right = builder.sample("left/"), builder.sample("right/")
    number = left[0].key.removeprefix("left/")
    neighbours = [_one(left, PICTURE), _one(right, LABEL)]
    neighbours[1].name = f"right/{number}.{LABEL}"
    members = [_one(no_label, PICTURE), *builder.samples(2), _one(no_picture, LABEL), *builder.sample()]
    members += [*neighbours, *builder.sample(), _one(last, PICTURE)]
    return builder.tar("a tar with pictures without label and labels without picture", members)


def _cut_in_data(builder: Builder, label_first: bool) -> DamagedTar:
    members = [*builder.samples(3), *builder.sample(label_first=label_first)]
    members = members if label_first else members[:-1]
    decoys = builder.sample()
    blocks = b"".join(map(builder.blocks, decoys))
    _hide(builder, blocks, members[-1])
    left = int(builder.rng.integers(BLOCK + len(blocks), len(members[-1].data)))
    names = [decoy.name for decoy in decoys]
    damage = "a tar that is cut inside the data of a picture"
    return builder.cut(damage, members, left, header=False, decoys=names)


def _cut_in_header(builder: Builder) -> DamagedTar:
    left = int(builder.rng.integers(1, BLOCK))
    return builder.cut("a tar that is cut inside a header", builder.samples(3), left, header=True)


def _cut_in_padding(builder: Builder) -> DamagedTar:
    """Cut behind the data of the last member, where only zeros that fill the block are missing."""
    members = builder.samples(3)
    data = members[-1].data = members[-1].data[: len(members[-1].data) // BLOCK * BLOCK] + b"777"
    damage = "a tar that is cut behind the data of its last member"
    return builder.cut(damage, members, len(data), header=False)


def draw_large_tar(samples: int, size: int) -> tuple[list[tuple[int, bytes]], int]:
    """Return a tar of large samples as its headers, each with its place, and the size of the tar.

    What is between the headers is zeros, which need no memory and no disk in a file with holes.
    """
    builder, parts, place = Builder(np.random.default_rng(0)), [], 0
    for number in range(samples):
        for kind, length in ((PICTURE, size), (LABEL, 1)):
            info = tarfile.TarInfo(f"large/{number:03d}.{kind}")
            info.size = length
            parts.append((place, info.tobuf(builder.format, "utf-8", "surrogateescape")))
            place += BLOCK + length + -length % BLOCK
    return parts, place + len(END)


def read_tar(data: bytes) -> list[tuple[str, bytes]]:
    """Return the name and the data of each member of an undamaged tar.

    Raises:
        tarfile.TarError: The tar is malformed.
    """
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        members = archive.getmembers()
        files = [(member.name, archive.extractfile(member)) for member in members]
        return [(name, b"" if file is None else file.read()) for name, file in files]
