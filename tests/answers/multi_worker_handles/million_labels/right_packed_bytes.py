class PackedLabels:
    """Two bytes a label, as a column of an Arrow table would hold them."""

    def __init__(self, path):
        with open(path) as file:
            self.column = b"".join(int(line).to_bytes(2, "little") for line in file)

    def __len__(self):
        return len(self.column) // 2

    def __getitem__(self, index):
        return int.from_bytes(self.column[2 * index : 2 * index + 2], "little")


def load_labels(path):
    return PackedLabels(path)
