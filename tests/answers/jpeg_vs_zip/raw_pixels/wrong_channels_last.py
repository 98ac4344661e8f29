# mistake: channels_last
def raw_to_tensor(data, info):
    array = np.frombuffer(data, np.uint8).reshape(info["shape"]).copy()
    return torch.from_numpy(array)
