#!/bin/sh
# Refuses to change the environment $1 where it was made for another folder, whose course it serves.
owner=$(head -n 1 "$1/.complete" 2>/dev/null) || owner=
[ -z "$owner" ] || [ "$owner" = "$(pwd -P)" ] || exec "$(dirname "$0")/fail.sh" \
    "the environment $1 belongs to $owner, and this folder ($(pwd -P)) may use it, but not install or remove it." \
    "a site's environment is updated by: python -m grading.site TEACHER_DIR. Otherwise leave VENV out; if this folder was moved or copied, delete $1"
