#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""wheel_licences.py WHEEL FOLDER: the wheel again in FOLDER, with the licence of nudge and, for every library that auditwheel put into
it, what Debian says of its copyright, under *.dist-info/licenses/. Fails where a library is of no package."""

import base64
import csv
import hashlib
import io
import pathlib
import re
import subprocess
import sys
import zipfile


def package_of(library):
    """The Debian package of a grafted library, libz-eb09ad1d.so.1.2.13, by the file that it was copied from."""
    stem = re.sub(r"-[0-9a-f]{8}(?=\.)", "", library, count=1)  # liblber-2-64f183c1.5.so.0.1.8 of liblber-2.5.so.0.1.8
    found = subprocess.run(["dpkg", "-S", f"*/{stem}"], capture_output=True, text=True, check=False).stdout
    names = {line.split(": ")[0].split(":")[0] for line in found.splitlines()}
    if not names:
        raise SystemExit(f"{library}: no Debian package has a file {stem}")
    return sorted(names)[0]


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main(wheel, folder):
    source = zipfile.ZipFile(wheel)
    names = source.namelist()
    info = next(name.split("/")[0] for name in names if name.endswith(".dist-info/RECORD"))
    added = {f"{info}/licenses/LICENSE": pathlib.Path("LICENSE").read_bytes()}
    for name in names:
        if ".libs/" in name and ".so" in name:
            package = package_of(name.rsplit("/", 1)[1])
            added[f"{info}/licenses/{package}.txt"] = pathlib.Path("/usr/share/doc", package, "copyright").read_bytes()
    record = list(csv.reader(io.StringIO(source.read(f"{info}/RECORD").decode())))
    known = {row[0] for row in record}
    record[:0] = [[name, digest(data), str(len(data))] for name, data in added.items() if name not in known]
    out = pathlib.Path(folder, pathlib.Path(wheel).name)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for item in source.infolist():
            if item.filename != f"{info}/RECORD" and item.filename not in added:
                target.writestr(item, source.read(item.filename), zipfile.ZIP_DEFLATED)
        for name, data in added.items():
            target.writestr(name, data)
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(record)
        target.writestr(f"{info}/RECORD", text.getvalue())
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB, licences of {len(added) - 1} packages")


if __name__ == "__main__":
    main(*sys.argv[1:])
