# SPDX-License-Identifier: Apache-2.0
"""Small programs that run a contestant's core: compiled once, when one of their sources is newer."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def aihwkit_driver(source, folder, name):
    """NAME.cpp with aihwkit's C++ core, which is compiled once into `folder`."""
    program = folder / name
    own = [HERE / f"{name}.cpp", *HERE.glob("*.hpp")]
    if program.exists() and all(program.stat().st_mtime > f.stat().st_mtime for f in own):
        return program
    folder.mkdir(parents=True, exist_ok=True)
    core = source / "src" / "rpucuda"
    compiler = os.environ.get("CXX", "g++")
    flags = ["-O2", "-std=c++17", "-w", "-fopenmp", "-DRPU_USE_OPENBLAS", f"-I{core}", *os.environ.get("CXXFLAGS", "").split()]

    def compile_one(file, again=False):
        target = folder / (file.stem + ".o")
        if again or not target.exists():
            subprocess.run([compiler, *flags, "-c", str(file), "-o", str(target)], check=True)
        return str(target)

    files = [f for f in sorted(core.glob("*.cpp")) if not f.name.endswith("_test.cpp")]
    print(f"compiling {len(files) + 1} files of aihwkit's core ...", file=sys.stderr)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, files))
    objects.append(compile_one(own[0], again=True))
    subprocess.run([compiler, "-fopenmp", *objects, *os.environ.get("LDFLAGS", "").split(), "-lopenblas", "-o", str(program)],
                   check=True)
    return program


def nudge_driver(build, name, as_in="circuits/wires/solvers.cpp"):
    """NAME.cpp as the build compiled the source `as_in`, with the build's libraries of circuits, netlist, devices and sim."""
    program, source = build / name, HERE / f"{name}.cpp"
    libraries = [build / room / f"libnudge_{room}.a" for room in ("circuits", "netlist", "devices", "sim")]
    own = [source, *HERE.glob("*.hpp"), *libraries]
    if program.exists() and all(program.stat().st_mtime > f.stat().st_mtime for f in own):
        return program
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    entry = next(e for e in entries if e["file"].endswith(as_in))
    words = [w for w in shlex.split(entry["command"]) if "ccache" not in w]
    command = words[:1] + [w for w in words if w.startswith(("-D", "-I", "-O", "-f", "-m", "-std"))]
    for at, word in enumerate(words):
        command += words[at:at + 2] if word == "-isystem" else []
    # What those libraries need besides is what the crossbars' benchmark is linked to.
    link = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "bench/nudge_bench_crossbar"], check=True,
                          capture_output=True, text=True).stdout.strip().split("\n")[-1]
    system = [w for w in shlex.split(link) if re.search(r"\.so[.0-9]*$|libpthread\.a$", w) and "benchmark" not in w]
    command += ["-o", str(program), str(source), *map(str, libraries), *system]
    subprocess.run(command, check=True, cwd=entry["directory"])
    return program
