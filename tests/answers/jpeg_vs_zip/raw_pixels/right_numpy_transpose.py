def raw_to_tensor(data, info):
    array = np.frombuffer(data, dtype=info["dtype"]).reshape(info["shape"])
    axes = tuple(info["layout"].index(axis) for axis in ("C", "H", "W"))
    return torch.from_numpy(array.transpose(axes).copy())
