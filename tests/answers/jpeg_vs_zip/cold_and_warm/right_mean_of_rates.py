def measure_cold_and_warm(dataset, batch_size, num_workers):
    result = benchmark(
        dataset,
        epochs=3,
        batch_size=batch_size,
        num_workers=num_workers,
        persistent_workers=False,
        pin_memory=False,
        device="cpu",
        shuffle=False,
    )
    rates = np.array([epoch.images / epoch.seconds for epoch in result.epochs])
    return result, rates[0], rates[1:].mean()
