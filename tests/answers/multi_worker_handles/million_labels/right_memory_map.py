def load_labels(path):
    binary = str(path) + ".npy"
    np.save(binary, np.fromstring(open(path).read(), dtype=np.int64, sep="\n"))
    return np.load(binary, mmap_mode="r")
