def load_labels(path):
    return np.loadtxt(path, dtype=np.int32)
