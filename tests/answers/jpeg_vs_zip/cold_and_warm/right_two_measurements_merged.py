def measure_cold_and_warm(dataset, batch_size, num_workers):
    settings = dict(
        batch_size=batch_size,
        num_workers=num_workers,
        persistent_workers=True,
        pin_memory=False,
        device="cpu",
    )
    cold = benchmark(dataset, epochs=1, cold_start=True, **settings)
    warm = benchmark(dataset, epochs=4, warm_start=True, **settings)
    return cold.merge(warm), cold.images_per_second, warm.images_per_second
