"""What the servers of these tests serve."""

CONTENT = bytes(k * k % 251 for k in range(100_000))
NAME = "photos of 2026.bin"
RANGES = [(k * 7919 % 90_000, 50 + k) for k in range(40)]
EXPECTED = [CONTENT[offset : offset + length] for offset, length in RANGES]
