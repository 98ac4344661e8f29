def raw_to_tensor(data, info):
    """Turn the bytes of a raw member into a uint8 tensor (3, H, W) with memory of its own."""
    if sorted(info["layout"]) != ["C", "H", "W"]:
        raise ValueError(f"cannot read layout {info['layout']!r}")
    pixels = torch.frombuffer(bytearray(data), dtype=torch.uint8).reshape(info["shape"])
    return pixels.permute([info["layout"].index(axis) for axis in "CHW"])
