from .questions import Feedback as Feedback
from .questions import Question as Question
from .questions import check as check
from .questions import questions_of as questions_of
