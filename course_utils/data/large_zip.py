"""Make a stored zip of very many tiny members in a moment, to see what opening such a zip costs."""

import zlib
from pathlib import Path

import numpy as np

NAME_BYTES = DATA_BYTES = 15
LOCAL = np.dtype(
    [
        ("signature", "S4"),
        ("versions_and_flags", "V10"),
        ("crc", "<u4"),
        ("sizes", "<u4", 2),
        ("lengths", "<u2", 2),
        ("name", f"S{NAME_BYTES}"),
        ("data", f"S{DATA_BYTES}"),
    ]
)
CENTRAL = np.dtype(
    [
        ("signature", "S4"),
        ("versions_and_flags", "V12"),
        ("crc", "<u4"),
        ("sizes", "<u4", 2),
        ("lengths", "<u2", 3),
        ("disk_and_attributes", "V8"),
        ("offset", "<u4"),
        ("name", f"S{NAME_BYTES}"),
    ]
)
END64 = np.dtype(
    [("signature", "S4"), ("rest", "<u8"), ("versions", "V4"), ("disks", "<u4", 2), ("sums", "<u8", 4)]
)
LOCATOR = np.dtype([("signature", "S4"), ("disk", "<u4"), ("offset", "<u8"), ("disks", "<u4")])
END = np.dtype(
    [("signature", "S4"), ("disks", "<u2", 2), ("counts", "<u2", 2), ("sums", "<u4", 2), ("comment", "<u2")]
)
IN_END64 = (0xFFFF, 0xFFFFFFFF)


def write_many_members(path: str | Path, count: int) -> None:
    """Write a zip64 file of `count` stored members, `000000000000.item` and so on, that hold their own name.

    Args:
        path: Where to write; about 105 bytes a member.
        count: Number of members, at most 40 million, so that every offset fits 32 bits.
    """
    names = [b"%010d.item" % i for i in range(count)]
    local = np.zeros(count, LOCAL)
    local["signature"], local["name"], local["data"] = b"PK\3\4", names, names
    local["crc"] = [zlib.crc32(name) for name in names]
    local["sizes"], local["lengths"] = DATA_BYTES, (NAME_BYTES, 0)
    central = np.zeros(count, CENTRAL)
    central["signature"], central["sizes"], central["lengths"] = b"PK\1\2", DATA_BYTES, (NAME_BYTES, 0, 0)
    central["crc"], central["name"] = local["crc"], local["name"]
    central["offset"] = np.arange(count) * LOCAL.itemsize
    end64 = np.zeros(1, END64)
    end64["signature"], end64["rest"] = b"PK\6\6", END64.itemsize - 12
    end64["sums"] = (count, count, central.nbytes, local.nbytes)
    locator = np.array([(b"PK\6\7", 0, local.nbytes + central.nbytes, 1)], LOCATOR)
    end = np.array([(b"PK\5\6", (0, 0), IN_END64[:1] * 2, IN_END64[1:] * 2, 0)], END)
    Path(path).write_bytes(b"".join(part.tobytes() for part in (local, central, end64, locator, end)))
