# mistake: cold_and_warm_mean
def seconds_per_batch(loader, step, clock, device, epochs):
    start = clock()
    for _ in range(epochs):
        for batch in loader:
            step(batch)
    device.synchronize()
    return (clock() - start) / (epochs * len(loader))
