#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpacks what the build needs into a folder, without root: without_root.sh FOLDER. Needs apt-get, and its sources in /etc/apt.
# It takes the packages "build" of tools/debian-packages.txt with all that they depend on, the compiler and the C library too, and
# writes FOLDER/activate, which puts them on the paths of a shell. Tests, benchmarks and MPI are left out.
set -euo pipefail
if [ $# -ne 1 ]; then echo "usage: without_root.sh FOLDER" >&2; exit 2; fi
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
  echo "without_root: this is no Debian machine (no apt-get). A wheel needs none: docs/start/install.md" >&2
  exit 2
fi
list="$(realpath -- "$(dirname -- "${BASH_SOURCE[0]}")")/debian-packages.txt"
mapfile -t wanted < <(awk '$1 == "build" && $2 !~ /^(catch2|libbenchmark-dev|ngspice|python3-h5py|libopenmpi-dev|openmpi-bin)$/ {print $2}' "$list")
mkdir -p -- "$1"
folder=$(realpath -- "$1")
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$folder/debs"

# Lists and cache of our own; an empty list of what is installed, so that the folder has everything.
apt() {
  LC_ALL=C apt-get -qq -o Dir::State="$folder/apt" -o Dir::State::lists="$folder/apt/lists" -o Dir::State::status=/dev/null \
    -o Dir::Cache="$folder/apt" -o Debug::NoLocking=true -o Acquire::Retries=3 "$@"
}
apt update
mapfile -t names < <(apt -s --no-install-recommends install "${wanted[@]}" | awk '/^Inst /{print $2}')
if [ "${#names[@]}" -eq 0 ]; then echo "without_root: apt-get finds no way to install: ${wanted[*]}" >&2; exit 1; fi
echo "without_root: ${#names[@]} packages"
(cd "$folder/debs" && apt download "${names[@]}")
for package in "$folder"/debs/*.deb; do dpkg-deb -x "$package" "$folder"; done

# One folder of links to all shared libraries but those of the C library, which have to be those of the machine's loader.
mkdir -p "$folder/libraries"
for library in "$folder"/{lib,usr/lib}/*-linux-gnu/{,blas/,lapack/}*.so*; do
  if [ -e "$library" ]; then ln -sf "$library" "$folder/libraries/"; fi
done
for file in $(dpkg-deb -c "$folder"/debs/libc6_*.deb | awk '$6 ~ /[.]so/ {print $6}'); do rm -f "$folder/libraries/$(basename "$file")"; done
rm -r "$folder/debs" "$folder/apt"

cat >"$folder/activate" <<ACTIVATE
export PATH="$folder/usr/bin:\$PATH"
export LD_LIBRARY_PATH="$folder/libraries\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
ACTIVATE
echo "without_root: done. Now, and in every new shell:  . $folder/activate"
echo "  cmake --preset release -DCMAKE_SYSROOT=$folder -DNUDGE_BUILD_TESTS=OFF -DNUDGE_BUILD_BENCHMARKS=OFF"
echo "  cmake --build --preset release --target nudge"
