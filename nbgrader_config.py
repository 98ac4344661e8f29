"""nbgrader's own configuration of this course: where things are, and how submissions run."""

from course_utils.validation.demonstrations import keep_definitions

c = get_config()  # noqa: F821 - nbgrader defines it

c.CourseDirectory.course_id = "feeding-the-gpu"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "notebooks"

# Answers to the questions of a lesson are Markdown cells tagged `answer`; a release leaves them out.
c.TagRemovePreprocessor.enabled = True
c.TagRemovePreprocessor.remove_cell_tags = {"answer"}
c.GenerateAssignment.preprocessors = [
    "nbconvert.preprocessors.TagRemovePreprocessor",
    "grading.nbgrader_plugins.mark_cells.MarkCells",
    "grading.links.preprocessors.LinkText",
    "grading.links.preprocessors.LinkLessons",
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.LockCells",
    "nbgrader.preprocessors.ClearSolutions",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# The Validate button runs of demonstrations what grading runs of them. An endless loop ends after the
# time-out; importing torch on a busy machine outlasts nbgrader's own limits.
c.Execute.on_cell_start = keep_definitions
c.Execute.timeout = 120
c.Execute.startup_timeout = 300
c.Execute.iopub_timeout = 60

c.Autograde.autograde_preprocessors = [
    "grading.nbgrader_plugins.preprocessor.ExecuteAnswers",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "grading.nbgrader_plugins.optional_exercises.ExtraCredit",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.AssignLatePenalties.plugin_class = "grading.nbgrader_plugins.deadlines.PenaltyPerDay"
c.Autograde.pre_convert_hook = "grading.nbgrader_plugins.gradebook.before_autograde"
c.Autograde.post_convert_hook = "grading.nbgrader_plugins.gradebook.after_autograde"
c.GenerateFeedback.exporter_class = "grading.nbgrader_plugins.feedback_page.FeedbackExporter"
c.Autograde.exporter_class = "grading.nbgrader_plugins.exporter.SubmissionExporter"

# Without c.Exchange.root these commands stop and say so, where nbgrader would use a folder of the system.
c.ExchangeFactory.fetch_assignment = "course_utils.exchange.explicit_root.ExchangeFetchAssignment"
c.ExchangeFactory.fetch_feedback = "course_utils.exchange.explicit_root.ExchangeFetchFeedback"
c.ExchangeFactory.list = "course_utils.exchange.explicit_root.ExchangeList"
c.ExchangeFactory.release_assignment = "course_utils.exchange.explicit_root.ExchangeReleaseAssignment"
c.ExchangeFactory.release_feedback = "course_utils.exchange.explicit_root.ExchangeReleaseFeedback"
c.ExchangeFactory.submit = "course_utils.exchange.explicit_root.ExchangeSubmit"
# A student can change what they handed in: collect dates it by the file system and follows no link.
c.ExchangeFactory.collect = "grading.submission.collect.SafeCollect"

# Settings of one term, such as due dates and c.Exchange.root. It may be missing, and git ignores it.
load_subconfig("term_config.py")  # noqa: F821 - traitlets defines it
