import array


def load_labels(path):
    return array.array("H", map(int, open(path)))
