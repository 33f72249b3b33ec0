#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# python_venv.sh FOLDER PACKAGE...: an environment of python3 in FOLDER, with packages from PyPI. Needs the network for what is missing
# there, and nothing otherwise. Fails, with pip's or apt's own message, where they cannot be had.
set -euo pipefail
folder=$1
shift

# Debian's Python comes without venv and headers; others, as pyenv's, have both.
if ! python3 -c 'import ensurepip, pathlib, sys, sysconfig; sys.exit(not pathlib.Path(sysconfig.get_path("include"), "Python.h").exists())' \
     2>/dev/null; then
  bash "$(dirname -- "${BASH_SOURCE[0]}")/install_dependencies.sh" python
fi
# One that was interrupted while it was made has no pip yet.
"$folder/bin/python" -m pip --version >/dev/null 2>&1 || python3 -m venv "$folder"
if [ "$#" -gt 0 ]; then "$folder/bin/python" -m pip install -q "$@"; fi
