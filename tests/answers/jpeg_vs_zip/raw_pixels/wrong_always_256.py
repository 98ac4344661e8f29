# mistake: shape_ignored
def raw_to_tensor(data, info):
    return torch.from_numpy(np.frombuffer(data, np.uint8).reshape(256, 256, 3).copy()).permute(2, 0, 1)
