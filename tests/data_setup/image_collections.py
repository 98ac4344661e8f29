"""Small collections of images with all the oddities of ImageNet, as a folder, a tar or a zip."""

import io
import tarfile
import zipfile

import numpy as np
from PIL import Image

ROTATED = Image.Exif()
ROTATED[0x0112] = 6


def picture(number, size=(320, 240), mode="RGB"):
    """A smooth image whose top left corner is bright, different for each number."""
    rng = np.random.default_rng(number)
    small = Image.fromarray(rng.integers(0, 120, (6, 8, 3), np.uint8))
    image = small.resize(size, Image.Resampling.BICUBIC)
    image.paste((250, 250, 250), (0, 0, size[0] // 2, size[1] // 2))
    return image.convert(mode)


def bright_corner(image):
    """The brightest corner: 0 top left, 1 top right, 2 bottom left, 3 bottom right."""
    gray = np.asarray(image.convert("L"), float)
    return int(np.argmax([gray[y : y + 64, x : x + 64].mean() for y in (0, 192) for x in (0, 192)]))


def encoded(image, kind="JPEG", **options):
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def name(number):
    return f"ILSVRC2012_val_{number + 1:08d}.JPEG"


def odd_files(count=30):
    """File contents by name: plain JPEG files, but numbers 1 to 6 have one oddity each."""
    files = {name(i): encoded(picture(i, (260 + 7 * i, 300)), quality=92) for i in range(count)}
    files[name(1)] = encoded(picture(1), "PNG")
    files[name(2)] = encoded(picture(2, mode="CMYK"))
    files[name(3)] = encoded(picture(3, mode="L"))
    files[name(4)] = encoded(picture(4), exif=ROTATED)
    files[name(5)] = files[name(5)][:-2000]
    files[name(6)] = b""
    return files


def as_folder(path, files):
    for file, content in files.items():
        (path / file).parent.mkdir(parents=True, exist_ok=True)
        (path / file).write_bytes(content)
    return path


def as_tar(path, files):
    with tarfile.open(path, "w") as tar:
        for file, content in files.items():
            info = tarfile.TarInfo(file)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def as_zip(path, files, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for file, content in files.items():
            archive.writestr(file, content)
    return path


def ground_truth(path, count=30):
    """Labels 101, 102, ... in the order of the names."""
    path.write_text("".join(f"{101 + number}\n" for number in range(count)))
    return path
