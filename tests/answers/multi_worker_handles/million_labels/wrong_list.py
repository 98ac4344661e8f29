# mistake: python_objects
def load_labels(path):
    return [int(line) for line in open(path)]
