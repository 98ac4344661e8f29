# mistake: not_a_number
def seconds_per_batch(loader, step, clock, device, epochs):
    start = clock()
    for batch in loader:
        step(batch)
    device.synchronize()
    print((clock() - start) / len(loader))
