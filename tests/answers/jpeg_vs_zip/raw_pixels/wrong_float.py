# mistake: no_uint8
def raw_to_tensor(data, info):
    array = np.frombuffer(data, np.uint8).reshape(info["shape"]).copy()
    axes = [info["layout"].index(axis) for axis in "CHW"]
    return torch.from_numpy(array).permute(axes).float()
