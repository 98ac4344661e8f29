# mistake: guesses_layout
def raw_to_tensor(data, info):
    pixels = torch.frombuffer(bytearray(data), dtype=torch.uint8).reshape(info["shape"])
    orders = {"CHW": (0, 1, 2), "HCW": (1, 0, 2)}
    return pixels.permute(orders.get(info["layout"], (2, 0, 1)))
