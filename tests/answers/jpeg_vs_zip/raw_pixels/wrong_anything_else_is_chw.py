# mistake: layout_ignored
def raw_to_tensor(data, info):
    pixels = torch.frombuffer(bytearray(data), dtype=torch.uint8).reshape(info["shape"])
    return pixels.permute(2, 0, 1) if info["layout"] == "HWC" else pixels
