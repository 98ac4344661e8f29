def load_labels(path):
    labels = torch.from_numpy(np.loadtxt(path, dtype=np.int64))
    return labels.share_memory_()
