# mistake: reshaped
def raw_to_tensor(data, info):
    height, width, channels = info["shape"]
    return torch.from_numpy(np.frombuffer(data, np.uint8).copy()).reshape(channels, height, width)
