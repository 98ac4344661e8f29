# Read by the scripts beside it: checks the Python $python, and finds or fetches uv, which $uv then is.
uv=uv
OWN=3.12  # of PYTHON=own: a Python that uv fetches, and that needs nothing of the system's
own=no

fail() { "$(dirname "$0")/fail.sh" "$@"; exit 1; }

# Without network: what packages.sh has put into a folder, which must stay where it is.
if [ -n "${PACKAGES:-}" ]; then
    [ -d "$PACKAGES" ] || fail "there is no folder $PACKAGES." "fill one where there is network: make packages PACKAGES=folder"
    export PIP_NO_INDEX=1 PIP_FIND_LINKS="$PACKAGES" UV_OFFLINE=1 UV_FIND_LINKS="$PACKAGES"
    case "$python" in
        python3 | own) [ ! -x "$PACKAGES/python/bin/python3" ] || python=$PACKAGES/python/bin/python3 ;;
    esac
fi
if [ "$python" = own ]; then own=yes python=python3; fi

supported() { "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))'; }

check_python() {
    command -v "$python" >/dev/null ||
        fail "there is no Python called '$python'." "install Python 3.11 to 3.14, or name yours: make lab PYTHON=python3.12"
    # A shim of pyenv or asdf is there for versions that are not installed, too.
    "$python" --version >/dev/null 2>&1 ||
        fail "'$python' does not run: $("$python" --version 2>&1 | head -n 1)" "name a Python that runs: make lab PYTHON=/usr/bin/python3"
    [ $own = yes ] || supported ||
        fail "the course needs Python 3.11 to 3.14, and '$python' is $("$python" --version 2>&1)." \
             "name another one: make lab PYTHON=python3.12; or let the course fetch its own: make lab PYTHON=own"
}

# Debian's Python comes without pip and venv unless they are installed: either one is enough here.
fetch_uv() {
    "$uv" --version >/dev/null 2>&1 && return
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

prepare() {
    check_python
    fetch_uv
    [ $own = yes ] || return 0
    python=$("$uv" python install --quiet --no-bin $OWN && "$uv" python find --managed-python $OWN) ||
        fail "uv could not fetch a Python." "check the network (https://github.com), or name a Python: make lab PYTHON=python3.12"
}
