# mistake: noise_not_reproducible
def make_loader(dataset, batch_size, seed, num_workers):
    generator = torch.Generator().manual_seed(seed)
    return DataLoader(dataset, batch_size, shuffle=True, generator=generator, num_workers=num_workers)
