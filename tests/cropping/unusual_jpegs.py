"""JPEG files of kinds that Pillow does not write, by libjpeg-turbo 3: arithmetic code, restarts, 4:4:1."""

import ctypes

import numpy as np

from course_utils.cropping.turbojpeg import turbojpeg

SUBSAMPLINGS = {"444": 0, "422": 1, "420": 2, "Gray": 3, "440": 4, "411": 5, "441": 6}
# From turbojpeg.h.
COMPRESS, RGB = 0, 0
PARAMETERS = {"quality": 3, "subsampling": 4, "progressive": 12, "arithmetic": 14, "restart_rows": 19}


def unusual_jpeg(pixels, subsampling="420", quality=90, **kind):
    """Return a JPEG file of uint8 pixels (H, W, 3); `kind` sets other `PARAMETERS`."""
    library, pointer = turbojpeg().long, ctypes.c_void_p
    library.tj3Init.restype = pointer
    library.tj3Compress8.argtypes = [pointer, pointer, *[ctypes.c_int] * 4, pointer, pointer]
    handle, data, size = pointer(library.tj3Init(COMPRESS)), pointer(), ctypes.c_size_t()
    for name, value in {"quality": quality, "subsampling": SUBSAMPLINGS[subsampling], **kind}.items():
        assert library.tj3Set(handle, PARAMETERS[name], int(value)) == 0
    pixels = np.ascontiguousarray(pixels)
    height, width, _ = pixels.shape
    source, results = pixels.ctypes.data, (ctypes.byref(data), ctypes.byref(size))
    assert library.tj3Compress8(handle, source, width, 0, height, RGB, *results) == 0
    file = ctypes.string_at(data.value, size.value)
    library.tj3Free(data)
    library.tj3Destroy(handle)
    return file
