from .loading_trial import Trial as Trial
from .loading_trial import try_loading as try_loading
from .thread_loader import ThreadLoader as ThreadLoader
