"""`train.py`: an ordinary training on the course's photographs, slow in the ways that real scripts are.

Each student keeps a copy, changes it at the end of each lesson, and measures it again:

    >>> from course_utils import train_script
    >>> script = train_script.write("../my_files")               # doctest: +SKIP
    >>> train_script.measure(script, lesson="00")                 # doctest: +SKIP
    lesson     images/s  waiting  opens  kB read  kB handed over  right  checksum
    00       66 to   68      74%    2.0     22.7           196.6    41%  788375b8

`python -m course_utils.train_script --after 01 FOLDER` writes the script as it is after a lesson.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
