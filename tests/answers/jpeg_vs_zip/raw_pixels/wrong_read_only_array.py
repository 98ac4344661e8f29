# mistake: read_only
def raw_to_tensor(data, info):
    array = np.frombuffer(data, np.uint8).reshape(info["shape"])
    return array.transpose([info["layout"].index(axis) for axis in "CHW"])
