def raw_to_tensor(data, info):
    layout, shape = info["layout"], info["shape"]
    assert len(layout) == 3 and set(layout) == set("CHW"), layout
    array = np.array(list(data), dtype=np.uint8).reshape(shape)
    array = np.moveaxis(array, layout.index("C"), 0)
    if layout.index("W") < layout.index("H"):
        array = array.swapaxes(1, 2)
    return torch.from_numpy(np.ascontiguousarray(array))
