def raw_to_tensor(data, info):
    array = np.frombuffer(data, np.uint8).reshape(info["shape"])
    layout = info["layout"]
    if layout == "CHW":
        planes = [array[c] for c in range(3)]
    elif layout == "HWC":
        planes = [array[:, :, c] for c in range(3)]
    elif layout == "HCW":
        planes = [array[:, c] for c in range(3)]
    else:
        raise ValueError(f"unknown layout {layout}")
    return torch.stack([torch.from_numpy(plane.copy()) for plane in planes])
