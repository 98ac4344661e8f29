"""What honest cells change in modules that checks and answers share, each as source."""

HABITS = {
    "fast disk of the cluster": "import tempfile\ntempfile.tempdir = '/scratch-local/ann'",
    "fast disk for all programs": "import os\nos.environ['TMPDIR'] = '/scratch-local/ann'",
    "folder of temporary folders": (
        "import functools, tempfile\n"
        "tempfile.mkdtemp = functools.partial(tempfile.mkdtemp, prefix='ann-')\n"
        "tempfile.TemporaryDirectory = functools.partial(tempfile.TemporaryDirectory, prefix='ann-')"
    ),
    "indented JSON": "import functools, json\njson.dumps = functools.partial(json.dumps, indent=2)",
    "numbers of NumPy in JSON": "import json\njson.JSONEncoder.default = lambda self, value: value.item()",
    "exact numbers from JSON": (
        "import decimal, functools, json\n"
        "json.loads = functools.partial(json.loads, parse_float=decimal.Decimal)"
    ),
    "old pickles": "import functools, pickle\npickle.dumps = functools.partial(pickle.dumps, protocol=2)",
    "compressed zips": (
        "import functools, zipfile\n"
        "zipfile.ZipFile.__init__ = functools.partialmethod(zipfile.ZipFile.__init__, compresslevel=1)"
    ),
    "copies without their times": "import shutil\nshutil.copy2 = shutil.copy",
    "pickled arrays": "import functools, numpy\n"
    "numpy.load = functools.partial(numpy.load, allow_pickle=True)",
    "pickled weights": "import functools, torch\n"
    "torch.load = functools.partial(torch.load, weights_only=False)",
    "short arrays in print": "import numpy, torch\nnumpy.set_printoptions(threshold=3, precision=1)\n"
    "torch.set_printoptions(profile='short')",
    "errors of NumPy": "import numpy\nnumpy.seterr(all='raise')",
    "warnings as errors": "import warnings\nwarnings.simplefilter('error')",
    "seeds": "import random, numpy, torch\nrandom.seed(1)\nnumpy.random.seed(1)\ntorch.manual_seed(1)",
    "no gradients": "import torch\ntorch.set_grad_enabled(False)",
    "double precision": "import torch\ntorch.set_default_dtype(torch.float64)",
    "one thread": "import torch\ntorch.set_num_threads(1)",
    "deterministic": "import torch\ntorch.use_deterministic_algorithms(True)",
    "broken images are read": "from PIL import Image, ImageFile\nImageFile.LOAD_TRUNCATED_IMAGES = True\n"
    "Image.MAX_IMAGE_PIXELS = None",
    "short sleeps": "import time\ntime.sleep = lambda seconds: None",
    "private files": "import os\nos.umask(0o077)",
    "files of the group": "import os\nos.umask(0o002)",
    "own folder": "import os, tempfile\nos.makedirs('/tmp/habits', exist_ok=True)\nos.chdir('/tmp/habits')",
    "other language": "import locale\nlocale.setlocale(locale.LC_ALL, 'C')",
    "network": "import socket\nsocket.setdefaulttimeout(5)",
    "path of own modules": "import os, sys\nsys.path.insert(0, '/tmp/habits')\n"
    "os.environ['PYTHONPATH'] = '/tmp/habits'",
    "output": "import builtins, functools\nbuiltins.print = functools.partial(print, flush=True)",
    "no garbage collection": "import gc\ngc.disable()",
    "quiet log": "import logging\nlogging.disable(logging.CRITICAL)",
}
