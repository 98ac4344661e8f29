# mistake: python_objects
def load_labels(path):
    return {index: int(line) for index, line in enumerate(open(path))}
