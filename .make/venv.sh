#!/bin/sh
# Makes the environment $2 with the Python $1: the exact versions of $3 (requirements.txt), and this package.
set -eu
python=$1
venv=$2
requirements=${3:-requirements.txt}
. "$(dirname "$0")/uv.sh"

"$(dirname "$0")/owned.sh" "$venv"

case "${TORCH:-}" in
    '') size=7.1 ;;
    cpu) size=2 ;;
    *) fail "there is no TORCH=$TORCH." "TORCH=cpu installs PyTorch without the libraries of GPUs; leave TORCH out for both" ;;
esac
prepare
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
