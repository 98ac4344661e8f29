#!/bin/sh
# Makes the environment $2 with the Python $1: the exact versions of $3 (requirements.txt), and this package.
set -eu
python=$1
venv=$2
requirements=${3:-requirements.txt}
uv=uv

fail() { "$(dirname "$0")/fail.sh" "$@"; exit 1; }

"$(dirname "$0")/owned.sh" "$venv"

check_python() {
    command -v "$python" >/dev/null ||
        fail "there is no Python called '$python'." "install Python 3.11 to 3.14, or name yours: make lab PYTHON=python3.12"
    # A shim of pyenv or asdf is there for versions that are not installed, too.
    "$python" --version >/dev/null 2>&1 ||
        fail "'$python' does not run: $("$python" --version 2>&1 | head -n 1)" "name a Python that runs: make lab PYTHON=/usr/bin/python3"
    "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' ||
        fail "the course needs Python 3.11 to 3.14, and '$python' is $("$python" --version 2>&1)." \
             "name another one: make lab PYTHON=python3.12"
}

# Debian's Python comes without pip and venv unless they are installed: either one is enough here.
fetch_uv() {
    uv=.tools/bin/uv
    "$uv" --version >/dev/null 2>&1 && return
    echo "Fetching uv, which installs everything else ..."
    rm -rf .tools
    # Without retries: where there is no network, each would wait in vain.
    { "$python" -m venv .tools && .tools/bin/python -m pip install --quiet --retries 1 uv; } >.tools.log 2>&1 ||
        { rm -rf .tools && "$python" -m pip install --quiet --retries 1 --target .tools uv; } >>.tools.log 2>&1 ||
        { grep -v WARNING .tools.log | tail -n 3 >&2; fail "pip could not fetch uv." "install python3-venv (Debian, Ubuntu) or uv itself, check the network, and try again"; }
    rm -f .tools.log
}

case "${TORCH:-}" in
    '') size=7.1 ;;
    cpu) size=2 ;;
    *) fail "there is no TORCH=$TORCH." "TORCH=cpu installs PyTorch without the libraries of GPUs; leave TORCH out for both" ;;
esac
check_python
uv --version >/dev/null 2>&1 || fetch_uv
echo "Creating $venv with $("$python" --version) (about $size GB, most of it torch) ..."
"$uv" venv --quiet --allow-existing --python "$(command -v "$python")" "$venv" ||
    fail "the environment $venv could not be created." "check that this folder is writable, then: make clean lab"
# TORCH=cpu: the locked versions without the libraries of GPUs.
backend=
if [ "${TORCH:-}" = cpu ]; then
    backend=--torch-backend=cpu
    locked=$requirements requirements=$(mktemp)
    trap 'rm -f "$requirements"' EXIT
    { grep -vE '^(nvidia-|cuda-|triton==)' "$locked"; grep '^nvidia-ml-py==' "$locked"; } >"$requirements"
fi
# Compiled now: where Python cannot write (a shared folder, some containers) each start would compile torch, 6 s.
"$uv" pip install --compile-bytecode --python "$venv" $backend --requirements "$requirements" --editable . ||
    fail "the packages of ${locked:-$requirements} could not be installed." \
         "check the network and the free space ($size GB), then run the same command again${backend:+; or leave TORCH=cpu out, which needs https://download.pytorch.org}"
# JupyterLab asks every user whether it may fetch news; a course does not need them.
mkdir -p "$venv/etc/jupyter/labconfig" &&
    printf '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}\n' \
        >"$venv/etc/jupyter/labconfig/default_setting_overrides.json"
# A student's clone has one that leaves out what only teachers use; and nbgrader's commands, which read the configuration
# of the folder where they are called, find the clone's from each of its folders.
if [ -f "$(dirname "$0")/page_config.json" ]; then
    cp "$(dirname "$0")/page_config.json" "$venv/etc/jupyter/labconfig/"
    "$venv/bin/python" -c 'import os; print(f"load_subconfig(\"nbgrader_config.py\", path={os.getcwd()!r})")' \
        >"$venv/etc/jupyter/nbgrader_config.py"
fi
pwd -P >"$venv/.complete"
