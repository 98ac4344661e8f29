def raw_to_tensor(data, info):
    array = np.frombuffer(data, np.uint8).reshape(info["shape"])
    return torch.tensor(np.einsum(f"{info['layout'].lower()}->chw", array))
