# mistake: python_objects
def load_labels(path):
    return open(path).read().split()
