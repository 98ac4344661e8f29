# mistake: sum_instead_of_max
def images_per_second(load_ms, compute_ms, num_workers, prefetch_factor, batch_size):
    total = sum(load + compute_ms for load in load_ms)
    return 1000 * batch_size * len(load_ms) / total
