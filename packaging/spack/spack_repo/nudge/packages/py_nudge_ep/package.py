# SPDX-License-Identifier: Apache-2.0
"""Spack's recipe of the Python package nudge and the program nudge (packaging/README.md)."""
from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyNudgeEp(PythonPackage):
    """Simulator of analog hardware that learns by settling: equilibrium propagation on virtual memristor crossbars, compared with
    backpropagation. The import name is nudge; the package nudge of PyPI is another project."""

    pypi = "nudge_ep/nudge_ep-0.2.0.tar.gz"

    license("Apache-2.0")

    version("0.2.0")  # its sha256 once the file is published: `spack checksum py-nudge-ep`

    variant("mpi", default=False, description="Spread sweeps of the program over the processes of mpirun")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("cmake@3.26:", type="build", when="^python@3.12:")
    depends_on("ninja", type="build")
    depends_on("py-scikit-build-core@0.10:", type="build")
    depends_on("py-nanobind@2.4:", type="build")

    depends_on("python@3.9:", type=("build", "link", "run"))
    depends_on("py-numpy@1.23:", type="run")
    depends_on("py-h5py@3.7:", type="run")
    depends_on("py-xarray@2022.6:", type="run")

    depends_on("eigen@3.4")
    depends_on("boost@1.74:")
    depends_on("suite-sparse")
    depends_on("sundials@6.4: +IDA +klu ~mpi")
    depends_on("hdf5")
    depends_on("zlib-api")
    depends_on("xz libs=shared")
    depends_on("fmt@9:")
    depends_on("cli11@2:")
    depends_on("nlohmann-json")
    depends_on("tomlplusplus")
    depends_on("random123")
    depends_on("mpi", when="+mpi")

    conflicts("%gcc@:11", msg="C++20 as of g++ 12")

    import_modules = ["nudge"]

    def config_settings(self, spec, prefix):
        return {
            "build-dir": "build",
            "build.targets": "_core;_core_stub;nudge",
            "cmake.define.NUDGE_ARCH": "",  # Spack's wrappers of compilers name the processor
            "cmake.define.NUDGE_MPI": "ON" if spec.satisfies("+mpi") else "OFF",
        }

    @run_after("install")
    def install_program(self):
        mkdirp(self.prefix.bin)
        install(join_path(self.stage.source_path, "build", "apps", "nudge"), self.prefix.bin)

    def test_version(self):
        """The program says its version."""
        program = which(self.prefix.bin.nudge)
        assert f"nudge {self.version}" in program("--version", output=str.split, error=str.split)
