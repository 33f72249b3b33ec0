// SPDX-License-Identifier: Apache-2.0
// Operating points of grids of resistors and diodes whose sources change from one to the next, here and in ngspice, which does them in
// one process (alter, op) as is its best use; see bench/README.md.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "circuits/netlist/netlist_reader.hpp"
#include "circuits/netlist/operating_point.hpp"
#include "sim/base/rng.hpp"
#include "sim/io/atomic_file.hpp"

namespace nudge::bench {
namespace {

constexpr int kSources = 8;

/// An n × n grid of resistors of 1 to 10 kOhm, kSources sources along its diagonal and, with diodes, one at every fourth node.
std::string grid(int n, bool diodes) {
  std::vector<double> drawn(static_cast<std::size_t>(2 * n * n));
  fill_uniform<double>({1, Purpose::probe, 7}, 0, 0, drawn);
  std::string text = "grid\n";
  std::size_t next = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const auto ohm = [&] { return 1e3 + 9e3 * drawn[next++]; };
      if (i + 1 < n) text += fmt::format("rv{0}_{1} n{0}_{1} n{2}_{1} {3}\n", i, j, i + 1, ohm());
      if (j + 1 < n) text += fmt::format("rh{0}_{1} n{0}_{1} n{0}_{2} {3}\n", i, j, j + 1, ohm());
      if (diodes && (i + 2 * j) % 4 == 0) text += fmt::format("d{0}_{1} n{0}_{1} 0 dd\n", i, j);
    }
  }
  for (int k = 0; k < kSources; ++k) {
    const int at = k * (n - 1) / (kSources - 1);
    text += fmt::format("v{0} s{0} 0 0\nrs{0} s{0} n{1}_{1} 100\n", k, at);
  }
  return text + "rg n0_0 0 1k\n.model dd d(is=1e-12 n=1.2)\n";
}

double source_volts(int point, int k) { return std::sin(1.0 + 0.7 * point + 2.1 * k); }

std::string read_all(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Seconds per operating point of ngspice, its start excluded, and v(n<n/2>_<n/2>) of the last; negative where it is not installed.
std::pair<double, double> in_ngspice(int n, bool diodes, int points) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("nudge-bench-{}-{}", n, diodes ? 1 : 0);
  std::filesystem::create_directories(folder);
  const auto seconds = [&](int count) {
    std::string text = grid(n, diodes) + ".options reltol=1e-6\n.control\nset numdgt=12\n";
    for (int p = 0; p < count; ++p) {
      for (int k = 0; k < kSources; ++k) text += fmt::format("alter v{} = {:.12g}\n", k, source_volts(p, k));
      text += "op\n";
    }
    text += fmt::format("print v(n{0}_{0})\nquit 0\n.endc\n.end\n", n / 2);
    write_atomically(folder / "grid.cir", std::as_bytes(std::span(text)), Overwrite::replace);
    const std::string command = "cd '" + folder.string() + "' && ngspice -b grid.cir > log.txt 2>&1 < /dev/null";
    const auto start = std::chrono::steady_clock::now();
    if (std::system(command.c_str()) != 0) return -1.0;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double one = seconds(1), all = seconds(points + 1);
  const std::string log = read_all(folder / "log.txt"), name = fmt::format("v(n{0}_{0}) = ", n / 2);
  const auto at = log.rfind(name);
  std::filesystem::remove_all(folder);
  if (one < 0 || all < 0 || at == std::string::npos) return {-1, 0};
  return {(all - one) / points, std::stod(log.substr(at + name.size()))};
}

void operating_points(benchmark::State& state) {
  const auto n = static_cast<int>(state.range(0));
  const bool diodes = state.range(1) != 0;
  const NodalEquations equations(
      parse_netlist("grid", grid(n, diodes), [](const auto&, const auto&, auto&) { return ""; }));
  OperatingPointSolver solver(equations);
  std::vector<double> values = equations.values(), x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  std::vector<std::size_t> sources;
  for (int k = 0; k < kSources; ++k) {
    sources.push_back(static_cast<std::size_t>(find_element(equations.netlist(), fmt::format("v{}", k))));
  }
  const auto solve = [&](int point) {
    for (int k = 0; k < kSources; ++k) values[sources[static_cast<std::size_t>(k)]] = source_volts(point, k);
    return solver.solve(values, {}, x);
  };
  int point = 0;
  double largest = 0;
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) {
    const OperatingPoint found = solve(point++);
    if (found.status != Status::converged) return state.SkipWithError("no operating point");
    largest = std::max(largest, found.residual_A);
  }
  const double ours = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / point;
  const int theirs_points = n <= 32 ? 100 : 10;
  const auto [theirs, volts] = in_ngspice(n, diodes, theirs_points);
  state.counters["residual_A"] = largest;
  if (theirs < 0) return;
  solve(theirs_points);
  const int middle = find_node(equations.netlist(), fmt::format("n{0}_{0}", n / 2));
  state.counters["floor_us"] = 1e6 * theirs;
  state.counters["ratio"] = ours / theirs;
  state.counters["difference_V"] = std::abs(x[static_cast<std::size_t>(middle)] - volts);
}

// Fixed counts: every repetition has ngspice run again.
BENCHMARK(operating_points)
    ->Name("netlist/operating_points")
    ->ArgNames({"side", "diodes"})
    ->ArgsProduct({{10, 32}, {0, 1}})
    ->Iterations(500)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(operating_points)
    ->Name("netlist/operating_points")
    ->ArgNames({"side", "diodes"})
    ->ArgsProduct({{100, 316}, {0, 1}})
    ->Iterations(10)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace nudge::bench

BENCHMARK_MAIN();
