# mistake: warm_up_counted
def seconds_per_batch(loader, step, clock, device, epochs):
    batches, start = 0, None
    for _ in range(epochs):
        for batch in loader:
            step(batch)
            if start is None:
                device.synchronize()
                start = clock()
            else:
                batches += 1
        device.synchronize()
    return (clock() - start) / batches
