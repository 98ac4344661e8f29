import warnings


def raw_to_tensor(data, info):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        flat = torch.frombuffer(data, dtype=getattr(torch, info["dtype"]))
    image = flat.clone().view(*info["shape"])
    order = {"HWC": (2, 0, 1), "CHW": (0, 1, 2), "HCW": (1, 0, 2)}[info["layout"]]
    return image.permute(order).contiguous()
