# mistake: warm_up_counted
def seconds_per_batch(loader, step, clock, device, epochs):
    start = clock()
    for batch in loader:
        step(batch)
    device.synchronize()
    return (clock() - start) / len(loader)
