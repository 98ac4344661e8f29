"""Whether the jobs of a training take the stream where it stands, and save a state that lasts."""

from collections.abc import Sequence

from course_utils.checks.beyond_photographs._mixture.jobs import (
    MANY,
    TINY,
    JobRecord,
    Late,
    Training,
)
from course_utils.checks.beyond_photographs._mixture.places import expect_place
from course_utils.checks.beyond_photographs._mixture.records import Read
from course_utils.checks.beyond_photographs._mixture.streams import expect_form
from course_utils.checks.core import Messages, Mistake, is_unsolved, value_of
from course_utils.checks.saved_states import NOT_JSON

mistake = Messages(__name__)

LONGEST_STATE = 1000  # characters


def expect_training(training: Training, stream: Read, records: Sequence[JobRecord]) -> None:
    """Check each job: that ranks take the stream in turn from where the last job ended, and what is saved.

    Args:
        training: The mixture and the jobs.
        stream: The stream of the mixture on one rank.
        records: What the jobs did.

    Raises:
        Mistake: A rank is given other samples, or a state cannot be used.
    """
    before: JobRecord | None = None
    for number, (job, record) in enumerate(zip(training["jobs"], records, strict=False)):
        if error := record["error"]:
            if before is None or is_unsolved(error):
                value_of({"error": error})
            else:
                mistake.raise_first(
                    {"json_changes_state.error": before["changed"], "resume_crashes": True}, error=error
                )
        for found, ahead in zip(record["read"], job["ahead"], strict=True):
            expect_form(training["mix"], found, job["taken"] + ahead)
        earlier = training["jobs"][number - 1] if number else None
        try:
            expect_place(stream["pairs"], job, [found["pairs"] for found in record["read"]], earlier)
        except Mistake as wrong:
            changed = False if before is None else before["changed"]
            shares = training["shared"] and before is None  # with a mixture each, the ranks were right
            mistake.raise_first(
                {"json_changes_state.place": changed, "ranks_share_state": shares}, said=wrong.message
            )
            raise
        given, length = job["start"] + job["ranks"] * job["taken"], len(record["state"])
        mistake.raise_first(
            {"not_json": record["state"] == NOT_JSON, "state_too_large": length > LONGEST_STATE},
            given=given,
            length=length,
            sizes=training["mix"]["sizes"],
        )
        before = record
    if len(records) < len(training["jobs"]):
        raise Mistake("no_evidence", "The check could not run all jobs of a training.")


def expect_bounded(late: Late) -> None:
    """Check the state after many samples.

    Raises:
        Mistake: There are not as many, or the state has become too long.
    """
    length, ends = len(late["state"]), late["count"] <= MANY
    mistake.raise_first(
        {"stream_ends": ends, "state_grows": length > LONGEST_STATE},
        sizes=TINY["sizes"],
        count=late["count"],
        length=length,
    )
