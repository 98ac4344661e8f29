"""Count what a mounted squashfs file asks of the shared file system while it is read.

Where it cannot be mounted, the counts are those that were recorded once.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from course_utils.scratch.way_costs import WayCost
from course_utils.storage import FileOps, strace

# Of 500 photographs in 12 folders, each read once, in random order. With squashfuse 0.1.105.
RECORDED_MOUNT_FILES = 500
RECORDED_MOUNT = FileOps(opens=1, reads=515, nbytes=10_179_629)
_RECORDED = {False: RECORDED_MOUNT, True: FileOps(opens=1, reads=508, nbytes=58_830_982)}
PACK = ("-quiet", "-no-progress", "-noI", "-noD", "-noF")


def why_not_mountable() -> str:
    """Return why a mount cannot be counted here, or an empty string if it can."""
    missing = [name for name in ("mksquashfs", "squashfuse") if not shutil.which(name)]
    if missing:
        return f"{missing[0]} is not installed"
    if not Path("/dev/fuse").exists():
        return "this system has no /dev/fuse"
    return strace.why_not_traceable()


def count_mounted(
    tree: Path, scratch: Path, read: Callable[[Path], object], fragments: bool = False
) -> WayCost:
    """Mount a folder as a squashfs file, read it there, and count the operations on that file.

    They are those of the process that serves the mount: it alone opens the file.

    Args:
        tree: The folder, which is packed into a temporary file.
        scratch: A folder for that file, and for the mount.
        read: Reads the folder that is mounted at a path.
        fragments: Whether small files share blocks, as mksquashfs does unless it is told otherwise.
    """
    label = f"one squashfs file, mounted{', small files in shared blocks' if fragments else ''}"

    def recorded(reason: str) -> WayCost:
        note = f"recorded elsewhere, with {RECORDED_MOUNT_FILES} files: {reason}"
        return WayCost(label, _RECORDED[fragments], 0, 0, note)

    if reason := why_not_mountable():
        return recorded(reason)
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        image, place = Path(folder, f"{tree.name}.squashfs"), Path(folder, tree.name)
        place.mkdir()
        pack = ["mksquashfs", str(tree), str(image), *PACK, *([] if fragments else ["-no-fragments"])]
        subprocess.run(pack, check=True, capture_output=True)

        def read_and_unmount() -> None:
            try:
                read(place)
            finally:
                subprocess.run(_unmount_command(place), check=True, capture_output=True)

        try:
            # It returns when the file is mounted, and a process in the background serves it.
            mount = ["sh", "-c", 'squashfuse "$0" "$1" && echo mounted', str(image), str(place)]
            source = strace.trace(mount, under=image, meanwhile=read_and_unmount)
        except subprocess.CalledProcessError as error:
            told = error.stderr.decode(errors="replace").strip()[-200:]
            return recorded(f"squashfuse cannot mount here: {told}")
    return WayCost(label, source, 0, 0, "no copy is made; counted while it was opened and read once")


def _unmount_command(place: Path) -> list[str]:
    program = next((name for name in ("fusermount3", "fusermount") if shutil.which(name)), "")
    return [program, "-u", str(place)] if program else ["umount", str(place)]
