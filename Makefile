# One line per thing a person does; `make help` lists them. The work itself is in .make/ and in the packages.
PYTHON  ?= python3
VENV    ?= .venv
LESSON  ?=
PORT    ?= 8888
HOST    ?= 127.0.0.1
BROWSER ?= yes
TESTS   ?=
SEEDS   ?=
GRADE_OPTIONS ?=
RECORD_OPTIONS ?=
BOOK_OPTIONS ?=
# One more than two cores: tests often wait for a browser, a server, or a time limit.
JOBS    ?= 3
FORCE   ?= no
TORCH   ?=
PACKAGES ?=
EXCHANGE ?=
STUDENTS ?= ../feeding-the-gpu-students

# The scripts beside this file. The folder may have a space in its name, so paths are quoted, or relative.
TOOLS := $(dir $(firstword $(MAKEFILE_LIST))).make
# nbgrader calls other commands of the environment (alembic) by their bare names.
RUN := PATH="$$(cd "$(VENV)" && pwd)/bin:$$PATH"
GRADING = $(RUN) python -m grading
# The libraries that benchmarks compare with have an environment of their own.
PEERS := $(VENV)-bench
# The names of targets cannot be quoted: a space in them is escaped.
SPACE := $(subst ,, )
READY := $(subst $(SPACE),\ ,$(VENV))/.complete
PEERS_READY := $(subst $(SPACE),\ ,$(PEERS))/.complete
# What JupyterLab opens: a lesson, or the start page; where that could not be written, the first lesson. The students'
# repository holds a start page, for a Hub, and git shows no change there that nobody made.
NOTEBOOK = $(firstword $(wildcard notebooks/$(LESSON)*/*.ipynb))
START_PAGE = notebooks/index.ipynb
PAGE = $(if $(LESSON),$(NOTEBOOK),$$(ls $(START_PAGE) 2>/dev/null || echo "$(NOTEBOOK)"))
LAB_OPTIONS = --ip=$(HOST) --port=$(PORT) $(if $(filter no,$(BROWSER)),--no-browser) \
              $(if $(filter 0,$(shell id -u)),--allow-root) --log-level=WARN \
              --LanguageServerManager.autodetect=False --ServerApp.root_dir="$(CURDIR)" \
              --LabApp.default_url="/lab/tree/$(PAGE)"

.PHONY: help lab serve update check test proofs repeats clinic release students collect grade progress feedback export data record bench book diagnosis packages clean options
.DEFAULT_GOAL := help
# The prerequisites of lab are steps in this order.
.NOTPARALLEL:

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*  ## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | expand -t 10
	@echo "Pages: lab, update: grading/site/student_readme.md; release to export, book: book/teachers/pages/a_term.md; others: CONTRIBUTING.md"

lab: options $(READY) data serve  ## environment, data, JupyterLab on the start page (LESSON=02 PORT=8888 HOST=0.0.0.0 BROWSER=no TORCH=cpu)

# Before minutes are spent on the rest. PYTHON is compared only where somebody has set it.
options:
	@$(TOOLS)/options.sh "$(PORT)" "$(LESSON)" "$(NOTEBOOK)" "$(VENV)" "$(if $(filter file,$(origin PYTHON)),,$(PYTHON))"

serve: options
	@git ls-files --error-unmatch $(START_PAGE) >/dev/null 2>&1 || \
	    $(RUN) python -m course_utils.start_page --write notebooks || true
	@echo "Your own script, which lesson 00 writes and no update overwrites: notebooks/my_files/train.py"
	@$(RUN) jupyter lab $(LAB_OPTIONS) || \
	    $(TOOLS)/fail.sh "JupyterLab did not start, or stopped with an error (above)." "try another port: make lab PORT=8899"

data: $(READY)  ## the default data, 2,000 photographs in all three forms and some tokens, unless there are sets already
	@$(RUN) python -m data_setup photos --if-missing && $(RUN) python -m data_setup tokens --if-missing || \
	    $(TOOLS)/fail.sh "the data set is not complete." "fix the problem named above, then run the same command again"

update: $(READY)  ## the newest version of the course; the answers in notebooks/ stay
	@$(RUN) python -m course_utils.update

check: $(READY) data  ## lint, types and the quick tests, in about a minute: before each commit
	@$(RUN) ruff check --no-cache --quiet
	@$(RUN) ruff format --no-cache --quiet --check
	@$(RUN) mypy
	@$(RUN) pytest -n $(JOBS) -q -m "not slow and not proof and not alone" $(or $(TESTS),tests)

test: $(READY) data  ## all tests, every lesson included (TESTS="tests/test_paths.py" for some, JOBS=3 at once)
	@$(RUN) pytest -n $(JOBS) $(TESTS)

proofs: repeats $(if $(TESTS),,clinic)  ## what repeats or takes minutes: the bank through nbgrader, a class under kills (30 minutes)

repeats: $(READY) data
	@$(RUN) pytest -n $(JOBS) -m proof $(if $(SEEDS),--seeds $(SEEDS)) $(TESTS)

# By themselves: they measure.
clinic: $(READY)
	@$(RUN) pytest -n 0 -m alone $(or $(TESTS),tests/diagnosis)

release: $(READY)  ## notebooks/, generated afresh from solutions/ (FORCE=yes where somebody has worked in notebooks/)
	@$(RUN) python -m grading.nbgrader_plugins.release $(if $(filter yes,$(FORCE)),--force)
	@echo "notebooks/ is generated from solutions/."

students: $(READY)  ## the repository for students, without solutions, in a folder beside this one (STUDENTS=folder EXCHANGE=folder)
	@$(RUN) python -m grading.site.student_repository "$(STUDENTS)" $(if $(EXCHANGE),--exchange "$(EXCHANGE)")

collect: $(READY)  ## what students handed in, from the exchange (GRADE_OPTIONS="--lesson 01_jpeg_vs_zip --student ann")
	@$(GRADING) collect $(GRADE_OPTIONS)

grade: $(READY)  ## run in a sandbox, judge, gradebook, report (GRADE_OPTIONS="--help" lists the options)
	@$(GRADING) grade $(GRADE_OPTIONS)

progress: $(READY)  ## what a class is stuck on, by exercise and without names (GRADE_OPTIONS="--every 300" repeats)
	@$(GRADING) progress $(GRADE_OPTIONS)

feedback: $(READY)  ## a page for each student (GRADE_OPTIONS="--release" returns it through the exchange)
	@$(GRADING) feedback $(GRADE_OPTIONS)

export: $(READY)  ## marks.csv for a learning management system (GRADE_OPTIONS="--to FILE")
	@$(GRADING) export $(GRADE_OPTIONS)

record: $(READY)  ## this machine's file system and GPU, for the lessons' plots: 30 minutes (RECORD_OPTIONS="--help")
	@$(RUN) python -m course_utils.record $(RECORD_OPTIONS)

bench: $(READY) $(PEERS_READY)  ## data_setup beside its limit, then every benchmark in tests/bench (2 hours)
	@$(RUN) python -c 'from course_utils.paths import data_dir; data_dir()' 2>/dev/null || $(MAKE) --no-print-directory data
	@$(RUN) python -m data_setup full_size
	@$(RUN) python -m data_setup bench
	@"$(PEERS)/bin/python" -m tests.bench.loader --checksums
	@"$(PEERS)/bin/python" -m tests.bench.loader --cold
	@"$(PEERS)/bin/python" -m tests.bench.loader --delayed
	@"$(PEERS)/bin/python" -m tests.bench.crops --imagenet-sizes
	@"$(PEERS)/bin/python" -m tests.bench.diagnosis
	@"$(PEERS)/bin/python" -m tests.bench.train_script --record
	@for file in tests/bench/*.py; do "$(PEERS)/bin/python" -m tests.bench.$$(basename $$file .py) || exit 1; done

book: $(READY)  ## the lessons as a site to read, without solutions, in build/book (BOOK_OPTIONS="--help" lists the options)
	@$(RUN) python -m book $(BOOK_OPTIONS)

$(READY): requirements.txt pyproject.toml
	@TORCH="$(TORCH)" $(TOOLS)/venv.sh "$(PYTHON)" "$(VENV)"

packages:  ## what an installation without network needs, in a folder: make lab PACKAGES=folder
	@$(TOOLS)/packages.sh "$(PYTHON)" "$(PACKAGES)"

$(PEERS_READY): tests/bench/requirements.txt tests/bench/ffcv.txt
	@$(TOOLS)/venv.sh "$(PYTHON)" "$(PEERS)" tests/bench/requirements.txt
	@$(TOOLS)/ffcv.sh "$(PEERS)"

diagnosis: $(READY)  ## build/diagnosis.pyz: the diagnosis of a training script as one file, for any environment with torch
	@$(RUN) python -m course_utils.diagnosis.archive build/diagnosis.pyz

clean:  ## remove the environments and caches; data, lessons and grading stay
	@$(TOOLS)/owned.sh "$(VENV)"
	@rm -rf "$(VENV)" "$(PEERS)" .tools .tools.log .mypy_cache .pytest_cache .ruff_cache .hypothesis artifacts
