# mistake: object_array
def load_labels(path):
    return np.array([int(line) for line in open(path)], dtype=object)
