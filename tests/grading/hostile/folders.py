"""Submitted folders that are not plain files: any bytes in names, anything in the place of a file."""

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

from tests.grading.attacks.attack import ALL_POINTS, Attack
from tests.grading.attacks.damage import RIGHT
from tests.grading.toy_course import LESSON

NOTEBOOK, STAMP = f"{LESSON}.ipynb", "timestamp.txt"
JPEG = b"\xff\xd8\xff" + bytes(1000)
ROOT = os.geteuid() == 0


def damaged(
    says: str, folder: Callable[[Path], object], *statuses: str, points: float = ALL_POINTS
) -> Attack:
    """Return a right submission in a damaged folder."""
    return Attack(RIGHT, folder=folder, points=points, statuses=statuses or ("damaged",), says=says)


def tampered(says: str, folder: Callable[[Path], object], points: float = ALL_POINTS) -> Attack:
    return damaged(says, folder, "tampered", points=points)


def unharmed(folder: Callable[[Path], object]) -> Attack:
    return damaged("", folder, "right")


def in_bytes(folder: Path, name: bytes) -> Path:
    return folder / os.fsdecode(name)


def create(name: bytes, data: bytes = b"x") -> Callable[[Path], None]:
    def change(folder: Path):
        in_bytes(folder, name).write_bytes(data)

    return change


def link(name: str | bytes, target: str | bytes) -> Callable[[Path], None]:
    return lambda folder: in_bytes(folder, os.fsencode(name)).symlink_to(os.fsdecode(target))


def pipe(name: str) -> Callable[[Path], None]:
    return lambda folder: os.mkfifo(folder / name)


def in_place_of(name: str, change: Callable[[Path], object]) -> Callable[[Path], None]:
    """Return a function that removes a file first."""

    def replace(folder: Path):
        (folder / name).unlink(missing_ok=True)
        change(folder)

    return replace


def stamped(data: bytes) -> Callable[[Path], None]:
    return create(STAMP.encode(), data)


def large(name: str, size: int) -> Callable[[Path], None]:
    """Return a function that makes a file without blocks, which takes no space."""

    def change(folder: Path):
        with (folder / name).open("ab") as file:
            file.truncate(size)

    return change


def many(count: int, name: str = "a{:05}.png", data: bytes = b"") -> Callable[[Path], None]:
    def change(folder: Path):
        for number in range(count):
            (folder / name.format(number)).write_bytes(data)

    return change


def nested(depth: int, name: str = "d") -> Callable[[Path], None]:
    """Return a function that makes folders in each other, deeper than any path may be long."""

    def change(folder: Path):
        descriptor = os.open(folder, os.O_RDONLY)
        for _ in range(depth):
            os.mkdir(name, dir_fd=descriptor)
            inner = os.open(name, os.O_RDONLY, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        os.close(os.open("bottom.txt", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
        os.close(descriptor)

    return change


def bound_socket(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        here = os.open(folder, os.O_RDONLY)
        one.bind(f"/proc/self/fd/{here}/socket")
        os.close(here)


def device(folder: Path) -> None:
    os.mknod(folder / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))


def folder_named(name: str, *files: str) -> Callable[[Path], None]:
    def change(folder: Path):
        (folder / name).mkdir()
        for file in files:
            (folder / name / file).write_text("x")

    return change


def without_permission(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).chmod(0)


def unreadable_folder(folder: Path) -> None:
    folder_named("locked", "inside.py")(folder)
    (folder / "locked").chmod(0)


def link_in_a_read_only_folder(folder: Path) -> None:
    (folder / "box").mkdir()
    (folder / "box" / "link").symlink_to("/etc/passwd")
    (folder / "box").chmod(0o555)
    folder.chmod(0o555)


def another_users_hard_link(folder: Path) -> None:
    victim = folder.parents[2] / "another_user.txt"
    if not victim.exists():
        victim.write_text("secret")
        os.chown(victim, 12345, -1)
    os.link(victim, folder / "hard")


def two_notebooks(folder: Path) -> None:
    data = (folder / NOTEBOOK).read_bytes()
    (folder / NOTEBOOK).unlink()
    (folder / "a.ipynb").write_bytes(data)
    (folder / "b.ipynb").write_bytes(data)


def checkpoint_beside_a_renamed_one(folder: Path) -> None:
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / NOTEBOOK).write_text("{}")
    (folder / NOTEBOOK).rename(folder / "mine.ipynb")


def hidden_folder_of_links(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").symlink_to("/dev/zero")


def forged_note(folder: Path) -> None:
    (folder / "removed-by-the-grader.txt").write_bytes(b"tampered: \xff\n" * 100_000 + b"right: 100 points\n")


NINES = b"9" * 50_000_000
FOLDERS = {
    "name_not_utf8": damaged("not UTF-8", create(b"caf\xe9.txt")),
    "folder_name_not_utf8": damaged("not UTF-8", lambda folder: in_bytes(folder, b"caf\xe9").mkdir()),
    "link_target_not_utf8": tampered("is a link", link("link", b"\xff\xfe")),
    "link_name_not_utf8": damaged("not UTF-8", link(b"\xff", "/etc/passwd")),
    "link_with_a_long_name": damaged("too long a name", link("l" * 250, "/etc/passwd")),
    "pipe_with_a_long_name": damaged("too long a name", pipe("p" * 250)),
    "file_with_the_longest_name": damaged("too long a name", create(b"n" * 255)),
    "names_that_steer_a_terminal": unharmed(create(b"\x1b[31m\n'\"$(id);--.py")),
    "name_of_a_formula": unharmed(create(b"=cmd|' !A0")),
    "names_that_differ_in_case": unharmed(lambda f: (create(b"A.txt")(f), create(b"a.txt")(f))),
    "names_that_look_the_same": unharmed(
        lambda f: (create("é.txt".encode())(f), create("e\u0301.txt".encode())(f))
    ),
    "name_with_backslashes": unharmed(create(b"..\\..\\x.txt")),
    "pipe": tampered("not a regular file", pipe("pipe")),
    "socket": tampered("not a regular file", bound_socket),
    "link_to_itself": tampered("is a link", link("loop", "loop")),
    "link_to_endless_zeros": tampered("is a link", link("zeros.txt", "/dev/zero")),
    "link_to_the_parent": tampered("is a link", link("up", "..")),
    "link_to_the_graders_memory": tampered("is a link", link("mem", "/proc/self/mem")),
    "notebook_is_a_link": tampered(
        "is a link",
        in_place_of(NOTEBOOK, link(NOTEBOOK, f"../../../solutions/{LESSON}/{NOTEBOOK}")),
        points=0,
    ),
    "notebook_is_a_dangling_link": tampered(
        "is a link", in_place_of(NOTEBOOK, link(NOTEBOOK, "no")), points=0
    ),
    "notebook_is_a_pipe": tampered("not a regular", in_place_of(NOTEBOOK, pipe(NOTEBOOK)), points=0),
    "notebook_is_a_folder": tampered("is a folder", in_place_of(NOTEBOOK, folder_named(NOTEBOOK)), points=0),
    "notebook_is_a_full_folder": tampered(
        "is a folder", in_place_of(NOTEBOOK, folder_named(NOTEBOOK, "a.ipynb", NOTEBOOK)), points=0
    ),
    "no_notebook": damaged("missing", in_place_of(NOTEBOOK, lambda folder: None), points=0),
    "empty_folder": damaged("missing", lambda folder: [path.unlink() for path in folder.iterdir()], points=0),
    "two_renamed_notebooks": damaged("was graded instead", two_notebooks),
    "renamed_notebook_beside_a_checkpoint": damaged("was graded instead", checkpoint_beside_a_renamed_one),
    "folder_named_as_a_notebook": tampered("is a folder", folder_named("mine.ipynb")),
    "full_folder_named_as_a_notebook": tampered("is a folder", folder_named("mine.ipynb", "a.py", "b.ipynb")),
    "stamp_is_a_folder": tampered("is a folder", folder_named(STAMP)),
    "stamp_is_a_full_folder": tampered("is a folder", folder_named(STAMP, "a", "b")),
    "stamp_is_a_link": tampered("is a link", link(STAMP, "/dev/zero")),
    "stamp_is_a_pipe": tampered("not a regular", pipe(STAMP)),
    "stamp_of_nines": damaged("exceeds the size", stamped(NINES)),
    "stamp_of_fewer_nines": tampered("time stamp", stamped(NINES[:1_000_000])),
    "stamp_that_the_decimal_module_refuses": tampered("time stamp", stamped(b"1e1000000000")),
    "stamp_of_sexagesimal_nonsense": tampered("time stamp", stamped(b"2026-01-01 99:99:99.9 UTC")),
    "stamp_of_infinity": tampered("time stamp", stamped(b"infinity")),
    "stamp_in_the_year_9999": tampered("time stamp", stamped(b"9999-12-31 23:59:59 +9999999999")),
    "stamp_not_utf8": tampered("time stamp", stamped(b"\xff\xfe\x00")),
    "stamp_with_a_null": tampered("time stamp", stamped(b"2026-01-01\0 00:00:00 UTC")),
    "nested_2000_deep": damaged("lies too deep", nested(2000)),
    "nested_1200_deep": damaged("lies too deep", nested(1200, "deep")),
    "path_longer_than_any_path": damaged("lies too deep", nested(15, "n" * 190)),
    "thousands_of_empty_folders": unharmed(
        lambda folder: [(folder / f"folder{number}").mkdir() for number in range(3000)]
    ),
    "more_entries_than_read": damaged("too many entries", many(21_000)),
    "more_files_than_read": damaged("limit of 1000 files", many(1500, "a{}.txt")),
    "pictures_before_the_notebook": unharmed(many(250, "00_picture{}.jpg", JPEG)),
    "file_of_a_terabyte": damaged("exceeds the size", large("data.bin", 2**40)),
    "files_of_105_megabytes": damaged(
        "exceeds the size", lambda folder: [large(f"{n}.bin", 15 * 2**20)(folder) for n in range(7)]
    ),
    "notebook_of_a_gigabyte": damaged("exceeds the size", large(NOTEBOOK, 2**30), points=0),
    "notebook_without_permission": unharmed(without_permission(NOTEBOOK)),
    "file_without_permission": unharmed(
        lambda folder: (create(b"x.py")(folder), without_permission("x.py")(folder))
    ),
    "folder_without_permission": unharmed(unreadable_folder),
    "link_in_a_read_only_folder": tampered("is a link", link_in_a_read_only_folder),
    "hidden_folder_of_links": unharmed(hidden_folder_of_links),
    "folder_in_the_place_of_a_lessons_file": damaged(
        "was renamed", in_place_of("lesson_file.txt", folder_named("lesson_file.txt", "x"))
    ),
    "empty_folder_in_the_place_of_a_lessons_file": unharmed(
        in_place_of("lesson_file.txt", folder_named("lesson_file.txt"))
    ),
    "forged_note": tampered("", forged_note),
}
if ROOT:
    FOLDERS |= {
        "device": tampered("not a regular file", device),
        "hard_link_to_another_users_file": tampered("another user", another_users_hard_link),
    }
