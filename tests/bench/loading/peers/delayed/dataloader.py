"""JPEG files and a stored zip in a random order, through a `DataLoader`: a worker waits for each image."""

from collections.abc import Iterable
from pathlib import Path

from tests.bench.loading.peer import Batch, Peer, Samples, make_dataloader
from tests.bench.loading.peers.course import files, stored_zip


def of_files(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    paths = sorted(folder.iterdir())
    samples = Samples(len(paths), lambda i: (paths[i].read_bytes(), i))
    return make_dataloader(samples, cores, batch_size, shuffle=True)


def of_members(folder: Path, cores: int, batch_size: int) -> Iterable[Batch]:
    members = stored_zip.Members(folder / "part0.zip")
    return make_dataloader(Samples(len(members.names), members), cores, batch_size, shuffle=True)


PEERS = {
    f"{name}, TorchCodec, shuffled": Peer("TorchCodec", write, batches, work=("delayed",))
    for name, write, batches in (
        ("JPEG files", files.write, of_files),
        ("stored zip", stored_zip.write, of_members),
    )
}
