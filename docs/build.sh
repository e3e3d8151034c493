#!/usr/bin/env bash
# Builds the reference of the library: docs/build.sh FOLDER, or ./dev docs.
#
# A warning is an error. Types, functions and enumerations must have a comment;
# fields, enumerators and operators may do without where the name says all, and
# so may the members of the testkit.
set -euo pipefail
folder=$(realpath -m "$1")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p "$folder"

log=$folder/warnings
doxygen - <<TEXT
@INCLUDE = docs/Doxyfile
OUTPUT_DIRECTORY = $folder
WARN_LOGFILE = $log
TEXT
if grep -vE '\((variable|enumvalue)\).* is not documented|operator.* is not documented|/testkit/.* is not documented' "$log"; then
  echo "docs: see the warnings above" >&2
  exit 1
fi
echo "$folder/html/index.html"
