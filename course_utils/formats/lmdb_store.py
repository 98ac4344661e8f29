"""LMDB: a B+ tree in one file, mapped into memory."""

from collections.abc import Iterable
from pathlib import Path

import lmdb

from course_utils.data import PackError
from course_utils.formats.sample import RandomAccess, Sample, from_record, to_record

COMMIT_EVERY = 100  # samples; a killed writer loses those after the last commit


class Lmdb(RandomAccess):
    """Records by number. The process that opens the environment must be the one that reads."""

    title = "LMDB"

    @classmethod
    def write(cls, path: Path, samples: Iterable[Sample]) -> None:
        """Write records in transactions; the map grows when it is full."""
        if path.exists():
            raise FileExistsError(path)
        with lmdb.open(str(path), subdir=False, map_size=2**24) as environment:
            batch: list[tuple[bytes, bytes]] = []
            for number, sample in enumerate(samples):
                batch.append((b"%09d" % number, to_record(sample)))
                if len(batch) == COMMIT_EVERY:
                    cls._commit(environment, batch)
                    batch = []
            cls._commit(environment, batch)

    @staticmethod
    def _commit(environment: lmdb.Environment, batch: list[tuple[bytes, bytes]]) -> None:
        while True:
            try:
                with environment.begin(write=True) as transaction:
                    transaction.cursor().putmulti(batch, append=True)
                return
            except lmdb.MapFullError:
                environment.set_mapsize(2 * environment.info()["map_size"])

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        # readahead=False: random reads would fetch pages that nobody asked for.
        with self.naming_errors():
            self._environment = lmdb.open(
                str(path), subdir=False, readonly=True, lock=False, readahead=False, create=False
            )
            stat, last_page = self._environment.stat(), self._environment.info()["last_pgno"]
            if path.stat().st_size < (last_page + 1) * stat["psize"]:
                raise ValueError("its end is missing")  # reading there would end the process
            self._length = int(stat["entries"])

    def __len__(self) -> int:
        return self._length

    def read(self, index: int) -> Sample:
        """Look up one record."""
        with self.reading(index), self._environment.begin() as transaction:
            record = transaction.get(b"%09d" % index)
            if record is None:
                raise PackError(f"{self.path} is damaged: it has no record {index}")
            return from_record(bytes(record))

    def close(self) -> None:
        """Close the environment."""
        super().close()
        self._environment.close()
