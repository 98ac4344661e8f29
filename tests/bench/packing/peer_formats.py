"""Packed formats of other libraries, with the methods of `course_utils.formats`: write, open, read."""

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from course_utils.formats import RandomAccess, Sample
from course_utils.formats.sample import from_record, to_record

SHARD_BYTES = 2**26


class Lance(RandomAccess):
    """A table of Lance; a row is taken by its number."""

    title = "Lance"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        import lance
        import pyarrow as pa

        schema = pa.schema([("name", pa.string()), ("data", pa.large_binary()), ("label", pa.int64())])

        def batches() -> Iterator[pa.RecordBatch]:
            remaining = iter(samples)
            while rows := list(itertools.islice(remaining, 50)):
                yield pa.record_batch(list(zip(*rows, strict=True)), schema=schema)

        lance.write_dataset(batches(), str(path), schema=schema)

    def __init__(self, path: Path) -> None:
        import lance

        super().__init__(path)
        self._table = lance.dataset(str(path))

    def __len__(self) -> int:
        return self._table.count_rows()

    def read(self, index: int) -> Sample:
        return Sample(*self._table.take([index]).to_pylist()[0].values())


class Zarr(RandomAccess):
    """All bytes in one array of Zarr 3, in shards of 16 MiB with chunks of 64 KiB, uncompressed."""

    title = "Zarr 3 (shards)"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        import zarr

        names, data, labels = zip(*samples, strict=True)
        group = zarr.create_group(path)
        joined = np.frombuffer(b"".join(data), np.uint8)
        array = group.create_array(
            "data", shape=joined.shape, dtype=joined.dtype, chunks=(2**16,), shards=(2**24,), compressors=None
        )
        array[:] = joined
        columns = {"offsets": np.cumsum([0, *map(len, data)]), "labels": np.array(labels)}
        for name, column in columns.items():
            group.create_array(name, data=column)
        group.attrs["names"] = names

    def __init__(self, path: Path) -> None:
        import zarr

        super().__init__(path)
        group: Any = zarr.open_group(path, mode="r")
        self.offsets, self.labels = group["offsets"][:], group["labels"][:]
        self.names, self._data = group.attrs["names"], group["data"]

    def __len__(self) -> int:
        return len(self.labels)

    def read(self, index: int) -> Sample:
        start, end = self.offsets[index : index + 2]
        return Sample(self.names[index], self._data[start:end].tobytes(), int(self.labels[index]))


class Mds(RandomAccess):
    """Shards of MosaicML Streaming."""

    title = "MDS (MosaicML Streaming)"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        from streaming import MDSWriter

        columns = {"name": "str", "data": "bytes", "label": "int"}
        with MDSWriter(out=str(path), columns=columns, size_limit=SHARD_BYTES) as writer:
            for sample in samples:
                writer.write(sample._asdict())

    def __init__(self, path: Path) -> None:
        from streaming import StreamingDataset

        super().__init__(path)
        self._data = StreamingDataset(local=str(path), shuffle=False, batch_size=1)

    def __len__(self) -> int:
        return len(self._data)

    def read(self, index: int) -> Sample:
        return Sample(**self._data[index])


class LitData(RandomAccess):
    """Chunks of LitData (Lightning)."""

    title = "LitData"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        from litdata.streaming.writer import BinaryWriter

        path.mkdir()
        writer = BinaryWriter(str(path), chunk_bytes=SHARD_BYTES)
        for number, sample in enumerate(samples):
            writer[number] = sample._asdict()
        writer.done()
        writer.merge()

    def __init__(self, path: Path) -> None:
        from litdata import StreamingDataset

        super().__init__(path)
        self._data = StreamingDataset(str(path))

    def __len__(self) -> int:
        return len(self._data)

    def read(self, index: int) -> Sample:
        return Sample(**self._data[index])


class Bagz(RandomAccess):
    """Records of Bagz, uncompressed, with their offsets at the end of the file."""

    title = "Bagz"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        import bagz

        with bagz.Writer(path) as writer:
            for sample in samples:
                writer.write(to_record(sample))

    def __init__(self, path: Path) -> None:
        import bagz

        super().__init__(path)
        self._reader = bagz.Reader(path)

    def __len__(self) -> int:
        return len(self._reader)

    def read(self, index: int) -> Sample:
        return from_record(self._reader[index])


PEERS: dict[str, type[RandomAccess]] = {
    "bagz": Bagz,
    "litdata": LitData,
    "mosaicml-streaming": Mds,
    "pylance": Lance,
    "zarr": Zarr,
}
