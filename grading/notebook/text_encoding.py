"""Decodes a JSON file that an editor may have saved in any common encoding."""

from __future__ import annotations

import json

UTF_8 = ("utf-8", "utf-8-sig")


def decode_text(raw: bytes) -> tuple[str, str]:
    """Return the text of a JSON file and its encoding.

    UTF-8, UTF-16 and UTF-32 are recognised with and without a byte order mark. Anything else comes from
    an editor with a Western encoding. Zero bytes at the end, which a full disk leaves behind, are dropped.
    """
    stripped = raw.rstrip(b"\0") if raw[:1] == b"{" and raw[1:2] != b"\0" else raw
    for encoding in (json.detect_encoding(stripped), "cp1252"):
        try:
            return stripped.decode(encoding).rstrip("\0"), encoding
        except UnicodeDecodeError:
            continue
    return stripped.decode("latin-1"), "latin-1"
