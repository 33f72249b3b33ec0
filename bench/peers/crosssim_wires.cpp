// SPDX-License-Identifier: Apache-2.0
// Solves given crossbars with wires by nudge's LineSolver and times it: what crosssim_wires.py compares CrossSim with. Not
// part of the build: crosssim_wires.py compiles it with the build's own flags and links it to the build's libraries.
//
// Standard input: int64 N, M, K; float64 ohm (all segments, both kinds of wires), conductances (N, M) in S and row voltages
// (K, N); then one float64 tolerance per round, until the end of the input. Standard output, per round: float64 CPU seconds
// of all K solves, each with its set-up, then the column currents (K, M) in A.
#include <time.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>

#include "circuits/wires/solvers.hpp"

namespace {

using Matrix = nudge::Matrix<double>;

template <class T>
bool read(T* values, std::int64_t count) {
  const auto bytes = static_cast<std::streamsize>(sizeof(T)) * count;
  return static_cast<bool>(std::cin.read(reinterpret_cast<char*>(values), bytes));
}

void write(const double* values, std::int64_t count) {
  std::cout.write(reinterpret_cast<const char*>(values), static_cast<std::streamsize>(sizeof(double)) * count);
}

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Prepares the allocator as in any program that has read data. glibc returns every freed array of 128 KiB to the
/// system until a larger one has been freed once; afterwards arrays are used again. crosssim_wires.py does the same for
/// CrossSim.
void settle_allocator() {
  void* volatile block = std::malloc(std::size_t{31} << 20);
  std::free(block);
}

void serve() {
  std::array<std::int64_t, 3> shape{};
  nudge::WireSpec spec;
  if (!read(shape.data(), 3) || !read(&spec.row_ohm, 1)) throw std::runtime_error("no shape on standard input");
  spec.column_ohm = spec.row_ohm;
  Matrix conductance_S(shape[0], shape[1]), volts(shape[2], shape[0]), currents_A(shape[2], shape[1]);
  if (!read(conductance_S.data(), conductance_S.size()) || !read(volts.data(), volts.size())) {
    throw std::runtime_error("standard input ends before the conductances and voltages");
  }
  for (double tolerance = 0; read(&tolerance, 1);) {
    bool converged = true;
    const double start = cpu_seconds();
    for (nudge::Index k = 0; k < volts.rows(); ++k) {
      const nudge::WireSolution solution = nudge::LineSolver(conductance_S, spec).solve(volts.row(k), tolerance);
      currents_A.row(k) = solution.currents_A;
      converged = converged && solution.converged;
    }
    const double seconds = cpu_seconds() - start;
    if (!converged) throw std::runtime_error("LineSolver has not converged");
    write(&seconds, 1);
    write(currents_A.data(), currents_A.size());
    std::cout.flush();
  }
}

}  // namespace

int main() {
  try {
    settle_allocator();
    serve();
  } catch (const std::exception& e) {
    std::cerr << "crosssim_wires: " << e.what() << "\n";
    return 2;
  }
  return 0;
}
