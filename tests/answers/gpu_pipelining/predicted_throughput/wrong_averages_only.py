# mistake: averages_only
def images_per_second(load_ms, compute_ms, num_workers, prefetch_factor, batch_size):
    load = sum(load_ms) / len(load_ms)
    if num_workers == 0:
        step = load + compute_ms
    else:
        step = max(load / num_workers, compute_ms)
    return 1000 * batch_size / step
