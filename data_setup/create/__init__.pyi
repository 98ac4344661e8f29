from .builder import Source as Source
from .builder import make_set as make_set
from .publish import publish_set as publish_set
from .render import Rendered as Rendered
from .render import encode as encode
from .staging import describe as describe
from .staging import is_finished as is_finished
from .worker_pool import start_method as start_method
