# mistake: loading_left_out
def seconds_per_batch(loader, step, clock, device, epochs):
    times = []
    for epoch in range(epochs):
        for batch in loader:
            start = clock()
            step(batch)
            device.synchronize()
            if epoch > 0:
                times.append(clock() - start)
    return sum(times) / len(times)
