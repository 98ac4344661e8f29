"""Commands of the documents that their test does not run, or not to their end, each with the reason."""

SERVER, TESTS = "a server on another machine", "runs the tests, and this one among them"
SITE = "needs a site and its accounts: tests/term/test_walk.py and tests/browser/test_hub.py type it"
FOREIGN = "needs a site and its accounts: tests/term/test_foreign_hub.py types it"
CONFIGURATION = "lines of term_config.py, no command: tests/grading/nbgrader_plugins tries each"
EXAMPLE = "needs the exercise of the example, which nobody has written here"
NETWORK = "asks a package index"
OFFLINE = "fetches 3 GB, or needs them: tests/test_make.py does it with two packages, without network"
LAB = "waits for a reader, as `make lab` does, which is run"
CLONE = "is typed in a student's clone: test_handing_in.py and tests/update do"

NOT_RUN = {
    "/the/folder/start": FOREIGN,
    # README.md, the student's page, and a term
    "make lab LESSON=02": LAB,
    "make lab TORCH=cpu": NETWORK,
    "make submit LESSON=01": CLONE,
    "make feedback LESSON=01": CLONE,
    "make update": CLONE,
    "make test": TESTS,
    "python -m course_utils.diagnosis train.py --epochs 3": "needs a script of the reader: tests/diagnosis",
    "make packages PACKAGES=packages": OFFLINE,
    "make lab PACKAGES=packages": OFFLINE,
    "make packages PACKAGES=/a/folder": OFFLINE,
    "make data PACKAGES=/a/folder": OFFLINE,
    "make lab PYTHON=own": "fetches a Python from elsewhere: tests/test_make.py has a uv that says so",
    "python -m grading.site $TEACHER_DIR --python own": SITE,
    "python -m grading.site $TEACHER_DIR --python own --packages /a/folder": SITE,
    "make lab BROWSER=no PORT=8899": SERVER,
    "ssh -L 8899:127.0.0.1:8899 you@the.remote.machine": SERVER,
    "c = get_config()": CONFIGURATION,
    'c.Grading.due = {"01_jpeg_vs_zip": "2026-12-01 23:59+01:00"}': CONFIGURATION,
    'c.Grading.extensions = {"01_jpeg_vs_zip": {"ann": "2026-12-08 23:59+01:00"}}': CONFIGURATION,
    "c.Grading.penalty_per_day = 0.1": CONFIGURATION,
    'c.Grading.optional = {"01_jpeg_vs_zip": ["raw_pixels"]}': CONFIGURATION,
    'c.Grading.weights = {"03_gpu_pipelining": 2}': CONFIGURATION,
    "python -m grading.site $TEACHER_DIR --teacher you --hub https://the.hub "
    "--repository https://git/of/the/notebooks": SITE,
    "make record": "takes half an hour; the quick one is run",
    "python -m course_utils.record --check record_a100_lustre.json": "needs a record: tests/record",
    "make book": "takes minutes: tests/browser/test_book.py builds both books",
    "make book BOOK_OPTIONS=--teachers": "takes minutes: tests/browser/test_book.py builds both books",
    "make check": TESTS,
    "make proofs": TESTS,
    "WHOLE=yes make proofs": TESTS,
    "make bench": "takes an hour",
    "bash .ci/run": TESTS,
    # book/teachers/pages
    "for n in $(seq 20); do curl -s -o /dev/null -r 0-19999 "
    "-w '%{time_starttransfer}\\n' \"$URL\"; done": SERVER,
    "python -c \"import os, time; f = os.open('/etc/hosts', 0); c = os.fork(); c or os.read(f, 10); "
    'print(os.getpid(), f, flush=True); time.sleep(60)"': "waits a minute for the next one",
    "grep pos /proc/<first pid>/fdinfo/<fd> /proc/<second pid>/fdinfo/<fd>": "names what that prints",
    "python -m course_utils.distributed batch-script $TEACHER_DIR/JHS_data/zip_encoded/part0.zip "
    "--folder ~/run --time 00:03:00 --warning 90 --epochs 20 --pause 0.2 --submit": (
        "needs Slurm: tests/distributed/test_slurm.py submits it"
    ),
    "srun --time=00:10:00 python build/diagnosis.pyz --html report.html train.py": "needs a script",
    # CONTRIBUTING.md
    "make test TESTS=tests/storage": "takes a minute, and CI runs these tests",
    "make test TESTS=solutions/more/01_jpeg_vs_zip.ipynb": TESTS,
    'make test TESTS="tests/lessons/test_saved_outputs.py tests/book/test_lesson_pages.py -k more-01"': TESTS,
    'make test TESTS="tests/grading/notebook"': TESTS,
    'make proofs TESTS="tests/grading/hostile/test_corpus.py -k NAME"': "NAME is the case of the reader",
    'make test TESTS="tests/test_names.py tests/test_rooms.py tests/checks '
    "-k 'reversed_labels or dozen'\"": EXAMPLE,
    "make test TESTS=\"tests/book tests/lessons/test_saved_outputs.py -k 'jpeg_vs_zip or timetable'\"": TESTS,
    'make test TESTS="tests/format_trials tests/lessons/format_choice tests/book/test_budget.py '
    'tests/test_rooms.py"': TESTS,
    'make test TESTS="tests/checks -k choose_format"': TESTS,
    'make test TESTS="tests/formats tests/open_files"': TESTS,
    'make test TESTS="solutions/04_packed_formats/04_packed_formats.ipynb '
    'solutions/more/04_packed_formats.ipynb"': TESTS,
    'WHOLE=yes make proofs TESTS="tests/lessons/test_answers.py -k reversed_labels"': EXAMPLE,
    'make proofs TESTS="tests/checks/test_bank_seeds.py -k reversed_labels" SEEDS=200': EXAMPLE,
    "uv pip compile --universal --python-version 3.11 --extra test --extra grading --extra formats "
    "--extra tokens --extra book --extra crops --no-annotate --no-header pyproject.toml "
    "-o requirements.txt": NETWORK,
    "uv pip compile --universal --python-version 3.11 --extra bench --extra crops --no-annotate --no-header "
    "pyproject.toml -o tests/bench/requirements.txt": NETWORK,
}
# These run until a reader presses Ctrl-C; here, until they have printed a match.
UNTIL = {
    "make lab": r"http://127\.0\.0\.1:\d+/lab/tree/notebooks/index\.ipynb",
    'make progress GRADE_OPTIONS="--lesson 01_jpeg_vs_zip --every 300"': r"^\d\d:\d\d$",
}
