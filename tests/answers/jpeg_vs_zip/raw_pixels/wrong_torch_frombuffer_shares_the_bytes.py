# mistake: read_only
def raw_to_tensor(data, info):
    pixels = torch.frombuffer(data, dtype=torch.uint8).reshape(info["shape"])
    return pixels.permute([info["layout"].index(axis) for axis in "CHW"])
