#!/bin/sh
# Fills the folder $2 with what an installation without network needs (`make lab PACKAGES=folder`): uv, the exact versions
# of requirements.txt, and a Python for them, if uv can fetch one; if not, they are for the Python $1.
set -eu
python=$1
folder=$2
unset PACKAGES
. "$(dirname "$0")/uv.sh"

[ -n "$folder" ] || fail "there is no folder to fill." "name one: make packages PACKAGES=folder"
own=yes  # any Python 3 fetches uv
check_python
fetch_uv
mkdir -p "$folder"
work=$(mktemp -d "$folder/.fetching-XXXXXX")
trap 'rm -rf "$work"' EXIT
if [ ! -x "$folder/python/bin/python3" ] && "$uv" python install --quiet --no-bin --install-dir "$work" $OWN; then
    mv "$work"/cpython-$OWN.* "$folder/python"
fi
if [ -x "$folder/python/bin/python3" ]; then
    python=$folder/python/bin/python3
else
    supported || fail \
        "no Python could be fetched, and the course needs 3.11 to 3.14: '$python' is $("$python" --version 2>&1)." \
        "name one that both machines have: make packages PACKAGES=folder PYTHON=python3.12; or unpack one into the folder, as python (book/teachers/pages/installations.md)"
    echo "No Python could be fetched: where these packages are installed, $("$python" --version) must be there."
fi
"$uv" venv --quiet --seed --python "$(command -v "$python")" "$work/venv" ||
    fail "pip could not be fetched." "check the network, then run the same command again"
echo "Fetching the packages into $folder (about 3 GB) ..."
# Their files go through $TMPDIR, and /tmp is often small.
TMPDIR=$work "$work/venv/bin/python" -m pip wheel --quiet --no-deps --wheel-dir "$folder" --requirement requirements.txt uv setuptools ||
    fail "the packages could not be fetched." "check the network and the free space (3 GB), then run the same command again"
