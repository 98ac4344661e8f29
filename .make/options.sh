#!/bin/sh
# Refuses options of `make lab` that cannot work: port $1, lesson $2 with its notebook $3, environment $4, Python $5.
set -eu
port=$1 lesson=$2 notebook=$3 venv=$4 python=$5
here=$(dirname "$0")

fail() { "$here/fail.sh" "$@"; exit 1; }

version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true; }

case "$port" in
    '' | *[!0-9]* | ??????*) valid=no ;;
    *) if [ "$port" -ge 1024 ] && [ "$port" -le 65535 ]; then valid=yes; else valid=no; fi ;;
esac
[ "$valid" = yes ] || fail "PORT=$port is not a port." "choose a number from 1024 to 65535: make lab PORT=8899"

# JupyterLab keeps its connection files there, and says only that it stopped.
state=${JUPYTER_RUNTIME_DIR:-${JUPYTER_DATA_DIR:-${XDG_DATA_HOME:-${HOME:-/nonexistent}}}}
{ mkdir -p "$state" && [ -w "$state" ]; } 2>/dev/null ||
    fail "$state cannot be written, and JupyterLab keeps its files there." \
         "make it writable, or name a home folder that is: HOME=/a/folder/of/yours make lab"

if [ -z "$notebook" ]; then
    lessons=$(cd notebooks 2>/dev/null && ls -d [0-9]* 2>/dev/null | tr '\n' ' ')
    fail "there is no lesson${lesson:+ $lesson}." "choose one of ${lessons:-those in notebooks/}, by its number: make lab LESSON=00"
fi

if [ -n "$python" ] && [ -x "$venv/bin/python" ]; then
    wanted=$(version_of "$python") found=$(version_of "$venv/bin/python")
    [ -z "$wanted" ] || [ "$wanted" = "$found" ] ||
        fail "the environment $venv has Python $found, and PYTHON=$python is Python $wanted." \
             "leave PYTHON out, or remove the environment first: make clean"
fi
