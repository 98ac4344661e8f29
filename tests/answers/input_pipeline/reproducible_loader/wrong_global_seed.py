# mistake: order_not_reproducible
def make_loader(dataset, batch_size, seed, num_workers):
    torch.manual_seed(seed)
    return DataLoader(dataset, batch_size, shuffle=True, num_workers=num_workers)
