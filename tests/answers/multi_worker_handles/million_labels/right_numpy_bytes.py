def load_labels(path):
    return np.array(open(path, "rb").read().split())
