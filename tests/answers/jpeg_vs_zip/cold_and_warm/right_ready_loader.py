from torch.utils.data import DataLoader


def measure_cold_and_warm(dataset, batch_size, num_workers):
    loader = DataLoader(dataset, batch_size=batch_size, num_workers=num_workers, shuffle=True)
    result = benchmark(loader, 4, None, None, None, None, "cpu")
    return result, len(dataset) / result.epoch_seconds[0], result.images_per_second
