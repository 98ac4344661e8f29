"""The table of facts: what holds for each packed format as it is written and read here, and what shows it.

No other place says so. The rules of the check `choose_format`, the tables and the picture of its exercise are
made from it: `python -m tests.lessons.format_choice.cells --write` after a change.
"""

from typing import Any, NamedTuple

LMDB = "http://www.lmdb.tech/doc/"
H5PY = "https://docs.h5py.org/en/latest/mpi.html"
HDF5_GROWS = "https://docs.h5py.org/en/stable/high/dataset.html"
PARQUET = "https://parquet.apache.org/docs/file-format/"
ARROW = "https://arrow.apache.org/docs/format/Columnar.html"
FEATHER = "https://pandas.pydata.org/docs/reference/api/pandas.read_feather.html"
ARRAYRECORD = "https://github.com/google/array_record"
MADVISE = "https://man7.org/linux/man-pages/man2/madvise.2.html"
MMAP = "https://man7.org/linux/man-pages/man2/mmap.2.html"
SQUASHFS = "https://docs.kernel.org/filesystems/squashfs.html"
MKSQUASHFS = "https://man.archlinux.org/man/mksquashfs.1.en"
RANGES = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html"
ZIPFILE = "https://docs.python.org/3/library/zipfile.html"
TAR = "https://docs.python.org/3/library/tarfile.html"


class Group(NamedTuple):
    """Formats of which the same holds.

    Attributes:
        formats: Their names, separated by spaces.
        value: What holds.
        because: Why, as a sentence about one of them without its end.
        source: Address of a documentation, or the name of the trial or function of this course that shows it.
    """

    formats: str
    value: Any
    because: str
    source: str


class Fact(NamedTuple):
    """A column of the table.

    Attributes:
        says: What a value means.
        groups: Each format stands in one of them.
    """

    says: str
    groups: tuple[Group, ...]


FACT_TABLE = {
    "random": Fact(
        "requests for a sample at random, and bytes that arrive for each of its bytes (a cold page cache, "
        "random reads advised, a page fault counts as a request); None if it cannot be read at random",
        (
            Group("Tar", None, "it has no index and is read from its start to its end", TAR),
            Group("SingleFiles Squashfs", (4, 1.1), "open, stat, read and close", "sample_costs"),
            Group("StoredZip", (7, 1.3), "it seeks and reads a header before the data", "sample_costs"),
            Group("IndexedZip FlatFile TfRecord", (1, 1.2), "one `pread`", "sample_costs"),
            Group("ArrayRecord", (1, 1.1), "one `pread`", "sample_costs"),
            Group("RaggedHdf5", (2, 2.4), "a reference, then what it refers to", "sample_costs"),
            Group("FlatHdf5", (1, 3.2), "it asks for at least 64 KiB", "sample_costs"),
            Group("FlatMap", (6, 1.2), "a page fault for each 4 KiB", "sample_costs"),
            Group("Lmdb", (6, 1.1), "a page fault for each 4 KiB", "sample_costs"),
            Group("Parquet", (2, 49), "it asks for the row group of 50 samples", "sample_costs"),
            Group("ArrowMap", (4, 49), "pyarrow asks the kernel for the batch of 50 samples", "sample_costs"),
        ),
    ),
    "stream": Fact(
        "the same if all samples are read from the start to the end, 50 at a time where the format allows it",
        (
            Group("SingleFiles Squashfs", (4, 1.0), "open, stat, read and close", "sample_costs"),
            Group("StoredZip IndexedZip ArrayRecord", (0.02, 1.01), "headers between data", "PackedFormat"),
            Group("Tar", (0.02, 1.09), "headers, and data filled up to 512 bytes", "PackedFormat"),
            Group("FlatFile FlatHdf5 TfRecord", (0.02, 1.0), "hardly more than the data", "PackedFormat"),
            Group("FlatMap ArrowMap", (0.3, 1.0), "a page fault for each 64 KiB", "sample_costs"),
            Group("Lmdb", (0.3, 1.1), "a page fault for each 64 KiB", "sample_costs"),
            Group("RaggedHdf5", (2, 1.05), "a reference, then what it refers to", "sample_costs"),
            Group("Parquet", (0.04, 1.0), "two calls for a row group", "sample_costs"),
        ),
    ),
    "a_file_each": Fact(
        "whether there is a file for each sample",
        (
            Group("SingleFiles", True, "there is a file for each sample", "PackedFormat"),
            Group(
                "StoredZip IndexedZip Tar FlatFile FlatMap RaggedHdf5 FlatHdf5 Lmdb Parquet ArrowMap "
                "TfRecord ArrayRecord Squashfs", False, "one to four files hold all samples", "PackedFormat",
            ),
        ),
    ),
    "shared": Fact(
        'what a shared file system such as Lustre serves well: "random" (any access), "stream" or "nothing"',
        (
            Group("SingleFiles", "nothing", "each sample is a file that has to be opened, and every open is "
                  "work for the few metadata servers", "count_operations"),
            Group("Lmdb", "nothing", "its documentation says not to use it on remote file systems", LMDB),
            Group("StoredZip", "stream", "it seeks and reads several times for one sample, and behind the "
                  "buffer of a shared file system each of these reads moves megabytes", "count_operations"),
            Group("FlatMap", "stream", "random page faults fetch 4 KiB each, several for one sample, or "
                  "a window of megabytes, and hold Python's lock meanwhile", MADVISE),
            Group("Parquet ArrowMap", "stream", "it fetches a group of 50 samples for one, whatever you "
                  "advise the kernel", "sample_costs"),
            Group("Tar", "stream", "it has no index and is read from its start to its end", TAR),
            Group("IndexedZip FlatFile RaggedHdf5 FlatHdf5 TfRecord ArrayRecord", "random",
                  "one or two reads of known size fetch a sample", "sample_costs"),
            Group("Squashfs", "random", "its image is one open file, and opens are answered on your own node",
                  SQUASHFS),
        ),
    ),
    "object_store": Fact(
        "whether an object store can serve it, which has only objects and ranges of their bytes",
        (
            Group("FlatMap ArrowMap Lmdb", False, "it is mapped into memory: that takes a file system", MMAP),
            Group("Squashfs", False, "it is mounted: that takes a file system", SQUASHFS),
            Group("SingleFiles StoredZip IndexedZip Tar FlatFile RaggedHdf5 FlatHdf5 Parquet TfRecord "
                  "ArrayRecord", True, "it is read by ranges of bytes", RANGES),
        ),
    ),
    "index_bytes": Fact(
        "bytes that an opened reader keeps in memory for each sample",
        (
            Group("StoredZip", 750, "the opened reader keeps the directory of the zip", "sample_costs"),
            Group("IndexedZip", 300, "the opened reader keeps the names and offsets", "sample_costs"),
            Group("SingleFiles Squashfs", 270, "the opened reader keeps names and labels", "sample_costs"),
            Group("FlatFile FlatMap", 100, "names in a Python list, the rest in arrays", "sample_costs"),
            Group("RaggedHdf5 FlatHdf5", 30, "names and labels are arrays", "sample_costs"),
            Group("Parquet", 50, "the footer describes each row group", "sample_costs"),
            Group("TfRecord ArrayRecord", 10, "offsets are an array", "sample_costs"),
            Group("Tar Lmdb ArrowMap", 0, "there is no index in memory", "sample_costs"),
        ),
    ),
    "extra_bytes": Fact(
        "bytes that it adds to a photograph of 20 kB: name, label, header, index and padding",
        (
            Group("SingleFiles FlatFile FlatMap FlatHdf5 Parquet ArrowMap TfRecord", 40,
                  "names, labels and offsets", "PackedFormat"),
            Group("StoredZip IndexedZip ArrayRecord", 130, "headers and an index", "PackedFormat"),
            Group("RaggedHdf5", 900, "blocks of a heap", "PackedFormat"),
            Group("Tar", 1800, "two headers, and data filled up to 512 bytes", "PackedFormat"),
            Group("Squashfs", 100, "a table of files", "PackedFormat"),
            Group("Lmdb", 2200, "pages of 4 KiB", "PackedFormat"),
        ),
    ),
    "before_fork": Fact(
        "whether the reader may be opened once, before workers are forked",
        (
            Group("StoredZip Tar", False, "forked workers move the one file position that they share",
                  "share_by_fork"),
            Group("Lmdb", False, "its documentation forbids to use it in a forked process", LMDB),
            Group("RaggedHdf5 FlatHdf5", False, "h5py's documentation advises to open the file in each "
                  "process: forking afterwards may cause issues", H5PY),
            Group("IndexedZip FlatFile FlatMap Parquet ArrowMap TfRecord ArrayRecord", True,
                  "it reads by `pread` or from a map, and has no position to share", "share_by_fork"),
            Group("SingleFiles Squashfs", True, "it opens a file for each sample", "share_by_fork"),
        ),
    ),
    "appends": Fact(
        "whether samples can be added to a complete data set without writing it anew",
        (
            Group("Parquet", False, "it ends with a footer that is written once", PARQUET),
            Group("ArrowMap", False, "it ends with a footer that is written once", ARROW),
            Group("ArrayRecord", False, "it ends with an index that is written once", ARRAYRECORD),
            Group("FlatHdf5", False, "its data sets have a fixed size", HDF5_GROWS),
            Group("RaggedHdf5", True, "its data sets can grow", HDF5_GROWS),
            Group("StoredZip IndexedZip", True, "members are added and the directory is replaced", ZIPFILE),
            Group("Tar", True, "members are added at its end", TAR),
            Group("FlatFile FlatMap TfRecord", True, "bytes are added, and an index beside them is replaced",
                  "PackedFormat"),
            Group("Lmdb", True, "it is a database", LMDB),
            Group("SingleFiles", True, "a file is added", "PackedFormat"),
            Group("Squashfs", True, "`mksquashfs` adds to an image", MKSQUASHFS),
        ),
    ),
    "notices_damage": Fact(
        "whether reading a sample raises an error if one of its bits was flipped",
        (
            Group("StoredZip IndexedZip TfRecord ArrayRecord", True, "it compares a checksum of each sample",
                  "flip_samples"),
            Group("SingleFiles Tar FlatFile FlatMap RaggedHdf5 FlatHdf5 Lmdb Parquet ArrowMap Squashfs",
                  False, "as it is written here, it has no checksums of the samples and returns a damaged "
                  "one in silence", "flip_samples"),
        ),
    ),
    "survives_kill": Fact(
        "whether samples can be read or recovered when the writer was killed",
        (
            Group("Tar TfRecord ArrowMap", True, "records can be read up to the cut", "kill_writer"),
            Group("Lmdb", True, "it returns to its last commit", "kill_writer"),
            Group("SingleFiles", True, "the files are there, only their list is not", "PackedFormat"),
            Group("StoredZip IndexedZip FlatFile FlatMap RaggedHdf5 FlatHdf5 Parquet ArrayRecord Squashfs",
                  False, "its index is written at the end, so that nothing can be read before",
                  "kill_writer"),
        ),
    ),
    "library": Fact(
        "what its reader needs beyond NumPy, Python and this course; empty if nothing",
        (
            Group("SingleFiles StoredZip IndexedZip Tar FlatFile FlatMap Squashfs", "",
                  "Python reads it", "find_formats"),
            Group("RaggedHdf5 FlatHdf5", "h5py", "its reader needs h5py", "find_formats"),
            Group("Lmdb", "lmdb", "its reader needs lmdb", "find_formats"),
            Group("Parquet ArrowMap", "pyarrow", "its reader needs pyarrow", "find_formats"),
            Group("TfRecord", "google_crc32c", "its reader needs google_crc32c", "find_formats"),
            Group("ArrayRecord", "array_record", "its reader needs array_record", "find_formats"),
        ),
    ),
    "read_by": Fact(
        "programs of others that read it",
        (
            Group("StoredZip IndexedZip", ("unzip",), "unzip reads zips", ZIPFILE),
            Group("Tar", ("GNU tar", "WebDataset"), "GNU tar and WebDataset read tars",
                  "https://github.com/webdataset/webdataset"),
            Group("RaggedHdf5 FlatHdf5", ("h5py",), "h5py reads HDF5", "https://docs.h5py.org/"),
            Group("Parquet", ("DuckDB", "pandas"), "DuckDB and pandas read Parquet", "https://duckdb.org/docs/"),
            Group("ArrowMap", ("pandas",), "pandas reads Arrow's files (Feather)", FEATHER),
            Group("TfRecord", ("TensorFlow",), "TensorFlow reads TFRecord",
                  "https://www.tensorflow.org/tutorials/load_data/tfrecord"),
            Group("ArrayRecord", ("Grain",), "Grain reads ArrayRecord",
                  "https://google-grain.readthedocs.io/"),
            Group("SingleFiles Squashfs", ("an image viewer",), "an image viewer reads JPEG files, in a "
                  "folder or in a mounted image", SQUASHFS),
            Group("FlatFile FlatMap Lmdb", (), "its records are laid out by this course", "PackedFormat"),
        ),
    ),
}  # fmt: skip
