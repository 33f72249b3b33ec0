#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages of tools/debian-packages.txt that are missing: install_dependencies.sh [build|python|data|dev]
# ("python" and "dev" include "build"; "data" is data sets alone). Asks nothing; does nothing, and needs neither network nor root, when none is missing.
set -euo pipefail
list="$(dirname -- "${BASH_SOURCE[0]}")/debian-packages.txt"

case "${1:-build}" in
  build) groups='^build$' ;;
  python) groups='^(build|python)$' ;;
  data) groups='^data$' ;;
  dev) groups='^(build|dev)$' ;;
  *) echo "usage: install_dependencies.sh [build|python|data|dev]" >&2; exit 2 ;;
esac
mapfile -t wanted < <(awk -v groups="$groups" '$1 ~ groups {print $2}' "$list")

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "install_dependencies: this is no Debian machine: nothing is installed. The build needs what these packages" >&2
  echo "  provide: ${wanted[*]}" >&2
  exit 0  # they may be there under other names: let CMake look
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null || true)
  grep -qx installed <<<"$status" || missing+=("$package")
done
if [ "${#missing[@]}" -eq 0 ]; then exit 0; fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "install_dependencies: missing packages, and neither root nor sudo to install them. As root, run:" >&2
    echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
    echo "  Without root, this unpacks them into a folder (docs/start/install.md):  bash tools/without_root.sh FOLDER" >&2
    exit 1
  fi
  as_root=(sudo)
  if [ ! -t 0 ]; then as_root=(sudo -n); fi  # without a terminal sudo must not wait for a password
fi

apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
    apt-get -y -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" </dev/null
}
echo "install_dependencies: installing ${missing[*]}"
apt update || echo "install_dependencies: the package lists could not be updated; trying with those at hand" >&2
if ! apt install --no-install-recommends "${missing[@]}"; then
  echo "install_dependencies: apt-get could not install: ${missing[*]}" >&2
  echo "  Its own message stands above: no network or mirror, no permission, or a release other than Debian 12?" >&2
  echo "  Install these packages by hand and run the same command again." >&2
  exit 1
fi
