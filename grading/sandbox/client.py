"""Host-side client of a sandbox: runs steps with timeouts, detects crashes, restarts."""

from __future__ import annotations

import time
from pathlib import Path

from grading.sandbox.budgets import Budgets
from grading.sandbox.isolation.limits import Limits
from grading.sandbox.running_submission import RunningSubmission
from grading.sandbox.server_process import START_SECONDS, GraderFaultError, ServerProcess
from grading.sandbox.steps import Reply, Step, definitions

PRELOADED_MODULES = ("numpy", "PIL.Image", "matplotlib.pyplot", "torch", "torchvision", "torch.utils.data")
SKIPPED = "No time was left for this cell: those before it had used it up."


class Sandbox:
    """A running sandbox with a fork server in it; runs one submission at a time.

    Args:
        kind: A backend, as `backends.choose` returns it.
        modules: Modules that the fork server imports once.
        limits: What one submission may use.
        readable: Folders that submissions may read, such as the course's data.
        module_folders: Folders to import modules from, before the environment's own.
    """

    def __init__(
        self,
        kind: str,
        modules: tuple[str, ...] = PRELOADED_MODULES,
        limits: Limits | None = None,
        readable: list[Path] | None = None,
        module_folders: list[Path] | None = None,
    ) -> None:
        self.kind, self.modules, self.limits = kind, modules, limits or Limits()
        self.readable, self.module_folders = readable or [], module_folders or []
        self._server: ServerProcess | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self, steps: list[Step], files: dict[str, bytes], known: dict[int, Reply] | None = None
    ) -> dict[int, Reply]:
        """Run a submission; after a step that kills the process, the others run again without it.

        Of a cell that did not run to its end, what it defines runs in its place. A failure that may be the
        machine's is a reply only if it happens again in a fresh sandbox.

        Args:
            steps: In the order of the notebook.
            files: The lesson's and the student's files by relative name.
            known: Replies of an earlier run; of these steps, only cells run again.

        Returns:
            One reply for each step's index, and those that were known.

        Raises:
            GraderFaultError: The sandbox itself failed.
        """
        replies = dict(known or {})
        doubted: set[int] = set()
        budgets = Budgets(steps, self.limits)
        plan = [one for step in steps for one in (step, *definitions(step))]
        while not self._attempt(plan, files, replies, doubted, budgets):
            pass
        return {index: reply for index, reply in replies.items() if index >= 0}

    def close(self) -> None:
        """End the sandbox and all its processes."""
        if self._server is not None:
            self._server.close()
        self._server = None

    def _attempt(
        self,
        steps: list[Step],
        files: dict[str, bytes],
        replies: dict[int, Reply],
        doubted: set[int],
        budgets: Budgets,
    ) -> bool:
        """Run the steps that have no reply yet, and the cells before them.

        Returns:
            Whether all steps have a reply. If not, one has ended the process, or its failure is doubted.
        """
        with self._start_submission() as submission:
            submission.send_files(files)
            for step in steps:
                if not _is_due(step, replies):
                    continue
                again = step.index in replies or step.is_fallback
                deadline = budgets.deadline(step, again, step.index in doubted)
                if deadline is None:
                    replies.setdefault(step.index, Reply("skipped", SKIPPED))
                    continue
                reply, doubtful = submission.run_step(step, deadline)
                if doubtful and step.index not in doubted:
                    doubted.add(step.index)
                    self.close()
                    return False
                replies[step.index] = reply
                budgets.keep_output(reply)
                if not again:
                    budgets.spend(step, reply.seconds)
                if reply.outcome != "done":
                    return False
        return True

    def _start_submission(self) -> RunningSubmission:
        """Start a submission, and first a fork server if none runs."""
        isolated = self.kind != "none"
        if not isolated:  # the last submission may have changed it
            self.close()
        if self._server is None or not self._server.is_running():
            self.close()
            self._server = ServerProcess(
                self.kind, self.modules, self.limits, self.readable, self.module_folders
            )
            self._self_test(self._server, isolated)
        return RunningSubmission(self._server, self.limits, isolated)

    def _self_test(self, server: ServerProcess, isolated: bool) -> None:
        """Run a cell that cannot fail, so that a fault of the sandbox is never taken for a student's."""
        try:
            with RunningSubmission(server, self.limits, isolated) as trial:
                trial.send_files({})
                reply, _ = trial.run_step(Step(0, "print(6 * 7)"), time.monotonic() + START_SECONDS)
            if (reply.outcome, reply.text) != ("done", "42\n"):
                raise GraderFaultError(f"The sandbox's self-test failed: {reply} {server.log_tail()}")
        except BaseException:
            self.close()
            raise


def _is_due(step: Step, replies: dict[int, Reply]) -> bool:
    """Say whether a step runs now: a check once, a cell each time that it can run to its end."""
    if step.is_fallback and replies[~step.index].outcome == "done":
        return False
    known = replies.get(step.index)
    return known is None or (known.outcome == "done" and not step.check)
