# SPDX-License-Identifier: Apache-2.0
"""Starting a run in a session of its own, and killing all of it or one of its processes (Linux: /proc)."""
import os
import pathlib
import signal
import subprocess
import sys
import time

MPI = {  # as root, more ranks than cores, its shared memory and sockets in the run's folder
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none"}


DEBIAN_PYTHON = "/usr/bin/python3"


class Run:
    """A command in a folder; its standard error goes to a file there."""

    def __init__(self, command, folder, **options):
        self.log_path = pathlib.Path(folder) / "log.txt"
        self.left = []  # after wait_for_end(): processes that had not ended, (name, what the kernel says of it)
        environment = dict(os.environ, **MPI, TMPDIR=str(folder), OMPI_MCA_btl_vader_backing_directory=str(folder))
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                            **{"stdout": subprocess.DEVNULL, "stderr": log, "start_new_session": True,
                                               **options})

    def log(self):
        return self.log_path.read_text(errors="replace")

    def session(self):
        """Processes of the session that are no zombies, oldest first: (id, name of the program)."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                name, rest = (entry / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
            except (OSError, IndexError):
                continue  # it has just ended
            fields = rest.split()  # state, parent, group, session, ..., start time
            if int(fields[3]) == self.process.pid and fields[0] != "Z":
                found.append((int(fields[19]), int(entry.name), name))
        return [(pid, name) for _, pid, name in sorted(found)]

    def kill_all(self):
        for pid, _ in self.session():
            kill(pid)

    def wait_for_end(self, seconds):
        """Until the first process and all that it started are gone; False: something is left (and is killed now)."""
        end = time.monotonic() + seconds
        try:
            self.process.wait(timeout=seconds)
            while self.session() and time.monotonic() < end:
                time.sleep(0.01)
        except subprocess.TimeoutExpired:
            pass
        left = self.session()
        self.left = [(name, state_of(pid)) for pid, name in left]
        while self.session():
            self.kill_all()
            time.sleep(0.01)
        self.process.wait()
        return not left


def has_h5py():
    """Whether h5py is here, which reads the files. The program goes on in Debian's Python where only that has it; else says so."""
    try:
        import h5py  # noqa: F401
        return True
    except ImportError:
        if sys.executable != DEBIAN_PYTHON and os.access(DEBIAN_PYTHON, os.X_OK):  # the one that python3-h5py is for
            os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv])
        print("SKIPPED: python3-h5py is not installed")
        return False


def state_of(pid):
    """State, and what the kernel says it waits for."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        return f"{state} {pathlib.Path(f'/proc/{pid}/wchan').read_text()}"
    except OSError:
        return "gone"


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
