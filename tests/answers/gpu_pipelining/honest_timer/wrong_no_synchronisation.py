# mistake: no_synchronisation
def seconds_per_batch(loader, step, clock, device, epochs):
    for batch in loader:
        step(batch)
    start, batches = clock(), 0
    for _ in range(epochs - 1):
        for batch in loader:
            step(batch)
            batches += 1
    return (clock() - start) / batches
