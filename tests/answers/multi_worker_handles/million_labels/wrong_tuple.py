# mistake: python_objects
def load_labels(path):
    return tuple(map(int, open(path)))
