"""nbgrader's exchange commands, which refuse to work before `c.Exchange.root` is set.

nbgrader's default is a folder of the system, /usr/local/share/nbgrader/exchange: releasing a lesson creates
it and lets everybody write there, or fails with a path that no file of the course names.
"""

from pathlib import Path
from typing import Any

from nbgrader.exchange import default
from traitlets import Unicode
from traitlets.config import Config

UNSET = "(c.Exchange.root is not set)"  # the formgrader shows it in the place of the folder
NO_EXCHANGE = (
    "There is no exchange, because c.Exchange.root is not set. Teachers set it in term_config.py beside "
    "nbgrader_config.py, to a folder that they and their students can access; students hand in as their "
    "teacher says."
)


class NoExchangeError(RuntimeError):
    """A command needs the exchange, and there is none."""


def has_exchange(config: Config) -> bool:
    """Tell whether a configuration of nbgrader sets the folder of the exchange."""
    return bool(config.Exchange.get("root"))


def require_exchange(config: Config) -> None:
    """Stop a command that does more than nbgrader's own before it has done anything.

    Raises:
        NoExchangeError: The configuration does not set the folder.
    """
    if not has_exchange(config):
        raise NoExchangeError(NO_EXCHANGE)


class ExplicitRoot(default.Exchange):
    """A command of the exchange that does nothing without a folder."""

    root = Unicode(UNSET, help="The exchange directory, writable to everyone.").tag(config=True)

    def start(self) -> Any:  # noqa: ANN401 - what the command returns, such as a list of assignments
        """Run the command.

        Raises:
            ExchangeError: `c.Exchange.root` is not set; nothing was read or written.
        """
        if self.root in ("", UNSET):
            self.fail(NO_EXCHANGE)
        return super().start()


# They have nbgrader's names, because the sections of a configuration are named after classes.
class ExchangeCollect(ExplicitRoot, default.ExchangeCollect):
    """`nbgrader collect`."""


class ExchangeFetchAssignment(ExplicitRoot, default.ExchangeFetchAssignment):
    """`nbgrader fetch_assignment`."""


class ExchangeFetchFeedback(ExplicitRoot, default.ExchangeFetchFeedback):
    """`nbgrader fetch_feedback`."""

    def init_src(self) -> None:
        """Find the feedback.

        Raises:
            ExchangeError: The teacher has returned none to anybody; nbgrader says that the lesson is missing.
        """
        if not (Path(self.root) / self.coursedir.course_id / "feedback").is_dir():
            self.fail("Your teacher has returned no feedback yet.")
        super().init_src()


class ExchangeList(ExplicitRoot, default.ExchangeList):
    """`nbgrader list`."""


class ExchangeReleaseAssignment(ExplicitRoot, default.ExchangeReleaseAssignment):
    """`nbgrader release_assignment`."""


class ExchangeReleaseFeedback(ExplicitRoot, default.ExchangeReleaseFeedback):
    """`nbgrader release_feedback`."""


class ExchangeSubmit(ExplicitRoot, default.ExchangeSubmit):
    """`nbgrader submit`."""
