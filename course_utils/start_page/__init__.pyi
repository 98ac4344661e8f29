from .index_notebook import INDEX as INDEX
from .index_notebook import write_index as write_index
from .lesson_facts import LessonFacts as LessonFacts
from .lesson_facts import read_facts as read_facts
from .overview import CourseOverview as CourseOverview
from .overview import course_overview as course_overview
