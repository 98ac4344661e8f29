from . import result_store as result_store
from .config import Course as Course
from .config import course_at as course_at
from .config import course_of as course_of
from .lesson import Lesson as Lesson
from .result_store import read as read
