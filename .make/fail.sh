#!/bin/sh
# Says which step failed ($1) and what to do ($2), and fails.
printf '\nStopped: %s\nWhat to do: %s\n' "$1" "$2" >&2
exit 1
