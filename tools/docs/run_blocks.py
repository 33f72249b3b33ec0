#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the ```sh blocks of documentation pages, so that every command in them is one that works.

The blocks of a page run one after the other in one shell and in a folder of its own, which holds links to examples/; the program is
on the PATH. The first command that fails ends the page.

    python3 tools/docs/run_blocks.py build/release/apps/nudge docs/tutorials/device.md
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(page):
    return re.findall(r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def run(program, page):
    with tempfile.TemporaryDirectory() as folder:
        return run_in(program, page, pathlib.Path(folder))


def run_in(program, page, folder):
    """Runs the blocks of a page in a folder, which keeps their files."""
    commands = blocks(page)
    if not commands:
        return f"{page}: no ```sh block"
    (folder / "examples").symlink_to(ROOT / "examples")
    path = f"{pathlib.Path(program).resolve().parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(["bash", "-euo", "pipefail", "-x", "-c", "\n".join(commands)], cwd=folder, text=True,
                          capture_output=True, env={**os.environ, "PATH": path}, check=False)
    if done.returncode != 0:
        return f"{page}: exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return ""


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    failures = [text for text in (run(sys.argv[1], pathlib.Path(page)) for page in sys.argv[2:]) if text]
    sys.exit("\n".join(failures) if failures else 0)


if __name__ == "__main__":
    main()
