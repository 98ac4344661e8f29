def load_labels(path):
    return torch.tensor([int(line) for line in open(path)], dtype=torch.int16)
