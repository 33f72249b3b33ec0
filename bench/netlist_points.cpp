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
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "netlist/netlist_file.hpp"
#include "netlist/operating_point.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/rng.hpp"
#include "sim/io/atomic_file.hpp"

namespace nudge::bench {
namespace {

constexpr int kSources = 8;

/// Makes an n × n grid of resistors of 1 to 10 kOhm, kSources sources along its diagonal and a diode at every
/// `diodes`-th node (0: none).
std::string grid(int n, int diodes) {
  std::vector<double> drawn(static_cast<std::size_t>(2 * n * n));
  fill_uniform<double>({1, Purpose::probe, 7}, 0, 0, drawn);
  std::string text = "grid\n";
  std::size_t next = 0;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const auto ohm = [&] { return 1e3 + 9e3 * drawn[next++]; };
      if (i + 1 < n) text += fmt::format("rv{0}_{1} n{0}_{1} n{2}_{1} {3}\n", i, j, i + 1, ohm());
      if (j + 1 < n) text += fmt::format("rh{0}_{1} n{0}_{1} n{0}_{2} {3}\n", i, j, j + 1, ohm());
      if (diodes > 0 && (i + 2 * j) % diodes == 0) text += fmt::format("d{0}_{1} n{0}_{1} 0 dd\n", i, j);
    }
  }
  for (int k = 0; k < kSources; ++k) {
    const int at = k * (n - 1) / (kSources - 1);
    text += fmt::format("v{0} s{0} 0 0\nrs{0} s{0} n{1}_{1} 100\n", k, at);
  }
  return text + fmt::format("inudge 0 n{0}_{0} 0\n", n - 1) + "rg n0_0 0 1k\n.model dd d(is=1e-12 n=1.2)\n";
}

/// Makes a ring of resistors of 1 to 10 kOhm in which every node has one more resistor. `near` false: to any other node
/// (a random graph of mean degree 4). `near` true: to a near node: nodes have random places in a square, the ring walks
/// along its cells, and the further resistor goes to the cell above. Sources as in a grid.
std::string random_graph(int n, bool near) {
  std::vector<double> drawn(static_cast<std::size_t>(5 * n));
  fill_uniform<double>({1, Purpose::probe, 8}, 0, 0, drawn);
  const int side = std::max(1, static_cast<int>(std::sqrt(n / 3.0)));
  std::vector<std::vector<int>> cells(static_cast<std::size_t>(side * side));
  std::vector<int> cell(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    const auto at = [&](int k) {
      return std::min(side - 1, static_cast<int>(side * drawn[static_cast<std::size_t>(k * n + i)]));
    };
    // Rows of cells are walked to and fro, so that the ring stays near.
    const int row = at(0), column = row % 2 == 0 ? at(1) : side - 1 - at(1);
    cells[static_cast<std::size_t>(row * side + column)].push_back(i);
  }
  std::vector<int> order;
  std::vector<std::pair<std::size_t, std::size_t>> range;  // of order, by cell of the walk
  for (const auto& members : cells) {
    for (const int i : members) {
      cell[static_cast<std::size_t>(i)] = static_cast<int>(range.size());
      order.push_back(i);
    }
    range.push_back({order.size() - members.size(), members.size()});
  }
  std::string text = "graph\n";
  for (int k = 0; k < n; ++k) {
    const int i = near ? order[static_cast<std::size_t>(k)] : k,
              next = near ? order[static_cast<std::size_t>((k + 1) % n)] : (k + 1) % n;
    const double a = drawn[static_cast<std::size_t>(2 * n + k)], b = drawn[static_cast<std::size_t>(3 * n + k)],
                 c = drawn[static_cast<std::size_t>(4 * n + k)];
    int other = std::min(n - 1, static_cast<int>(b * n));
    if (near) {
      // The cell above, mirrored in the walk.
      const int of = cell[static_cast<std::size_t>(i)], row = of / side, up = (row + 1) % side,
                mirrored = up * side + side - 1 - of % side;
      const auto [first, count] = range[static_cast<std::size_t>(mirrored)];
      other = count == 0 ? next
                         : order[first + std::min(count - 1, static_cast<std::size_t>(b * static_cast<double>(count)))];
    }
    text += fmt::format("rr{0} n{1} n{2} {3}\n", k, i, next, 1e3 + 9e3 * a);
    if (other != i) text += fmt::format("rc{0} n{1} n{2} {3}\n", k, i, other, 1e3 + 9e3 * c);
  }
  for (int k = 0; k < kSources; ++k)
    text += fmt::format("v{0} s{0} 0 0\nrs{0} s{0} n{1} 100\n", k, k * (n - 1) / (kSources - 1));
  return text + "rg n0 0 1k\n";
}

/// Voltage of source k at a point. Points come in pairs as equilibrium propagation needs them: free, and with a current
/// into the last node.
double source_volts(int point, int k) { return std::sin(1.0 + 0.7 * (point / 2) + 2.1 * k); }
double nudge_amperes(int point) { return point % 2 == 0 ? 0 : 1e-5; }

std::string read_all(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Measures seconds per operating point of ngspice, its start excluded, and v(n<n/2>_<n/2>) of the last; negative where
/// it is not installed.
std::pair<double, double> in_ngspice(int n, int diodes, int points) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("nudge-bench-{}-{}", n, diodes);
  std::filesystem::create_directories(folder);
  const auto seconds = [&](int count) {
    std::string text = grid(n, diodes) + ".options reltol=1e-6\n.control\nset numdgt=12\n";
    for (int p = 0; p < count; ++p) {
      for (int k = 0; k < kSources; ++k) text += fmt::format("alter v{} = {:.12g}\n", k, source_volts(p, k));
      text += fmt::format("alter inudge = {:.12g}\nop\n", nudge_amperes(p));
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

NodalEquations equations_of(const std::string& text) {
  return NodalEquations(parse_netlist("bench", text, [](const auto&, const auto&, auto&) { return ""; }));
}

/// Places of the sources v0, v1, ... among the elements.
std::vector<std::size_t> sources_of(const NodalEquations& equations) {
  std::vector<std::size_t> out;
  for (int k = 0; k < kSources; ++k)
    out.push_back(static_cast<std::size_t>(find_element(equations.netlist(), fmt::format("v{}", k))));
  return out;
}

/// Sets the sources to their voltages at a point.
void drive(const std::vector<std::size_t>& sources, int point, std::vector<double>& values) {
  for (int k = 0; k < kSources; ++k) values[sources[static_cast<std::size_t>(k)]] = source_volts(point, k);
}

/// Adds dE/dg += ½ (Δv² nudged − Δv² free) of the resistors.
void add_gradient(const Netlist& netlist, const std::vector<double>& free, const std::vector<double>& nudged,
                  std::vector<double>& gradient) {
  for (std::size_t k = 0; k < netlist.elements.size(); ++k) {
    const Element& e = netlist.elements[k];
    if (e.kind != ElementKind::resistor) continue;
    const double a = across(e, nudged), b = across(e, free);
    gradient[k] += (a * a - b * b) / 2;
  }
}

void operating_points(benchmark::State& state) {
  const auto n = static_cast<int>(state.range(0));
  const auto diodes = static_cast<int>(state.range(1));
  const NodalEquations equations = equations_of(grid(n, diodes));
  OperatingPointSolver solver(equations);
  const std::vector<std::size_t> sources = sources_of(equations);
  const auto nudge = static_cast<std::size_t>(find_element(equations.netlist(), "inudge"));
  // As many samples side by side as a training has (data.side_by_side); points of a pair are their free and their nudged states.
  const int samples = n <= 32 ? 16 : 1;
  struct Sample {
    std::vector<double> values, x, free;
  };
  std::vector<Sample> own(static_cast<std::size_t>(samples));
  std::vector<OperatingPointSolver::Request> requests;
  const std::vector<OutputAction> none;
  for (Sample& one : own) {
    one.values = equations.values();
    one.x.assign(static_cast<std::size_t>(equations.unknowns()), 0.0);
    requests.push_back({&one.values, &none, &one.x});
  }
  std::vector<double> gradient(own.front().values.size(), 0.0);
  double largest = 0;
  // Pairs from the first-th on; whether all were found.
  const auto solve = [&](int first) {
    bool all = true;
    for (const int phase : {0, 1}) {
      for (int p = 0; p < samples; ++p) {
        std::vector<double>& values = own[static_cast<std::size_t>(p)].values;
        drive(sources, 2 * (first + p), values);
        values[nudge] = nudge_amperes(phase);
      }
      solver.solve(std::span(requests));
      for (const auto& request : requests) {
        all = all && request.found.status == Status::converged;
        largest = std::max(largest, request.found.residual_A);
      }
      for (Sample& one : own) {
        if (phase == 0) one.free = one.x;
        if (phase == 1) add_gradient(equations.netlist(), one.free, one.x, gradient);
      }
    }
    return all;
  };
  int pairs = 0;
  const auto start = std::chrono::steady_clock::now();
  for (auto _ : state) {
    if (!solve(pairs)) return state.SkipWithError("no operating point");
    pairs += samples;
  }
  const double ours = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / (2 * pairs);
  const int theirs_points = n <= 32 ? 100 : 10;
  const auto [theirs, volts] = in_ngspice(n, diodes, theirs_points);
  state.counters["residual_A"] = largest;
  if (theirs < 0) return;
  solve(theirs_points / 2);  // whose free state is the last point there
  const int middle = find_node(equations.netlist(), fmt::format("n{0}_{0}", n / 2));
  state.counters["point_us"] = 1e6 * ours;
  state.counters["floor_us"] = 1e6 * theirs;
  state.counters["ratio"] = ours / theirs;
  state.counters["difference_V"] = std::abs(own.front().free[static_cast<std::size_t>(middle)] - volts);
}

double resident_MB() {
  std::ifstream stream("/proc/self/statm");
  double total = 0, resident = 0;
  stream >> total >> resident;
  return resident * 4096e-6;
}

/// Times points of random graphs by their number of nodes; reports entries of the matrix and the resident memory of a
/// thread's own solver.
void random_points(benchmark::State& state) {
  const auto n = static_cast<int>(state.range(0));
  const NodalEquations equations = equations_of(random_graph(n, state.range(1) != 0));
  const OperatingPointSolver first(equations);
  std::vector<double> values = equations.values(), x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  const std::vector<std::size_t> sources = sources_of(equations);
  const double before = resident_MB();
  OperatingPointSolver solver(first);
  int point = 0;
  const auto solve = [&] {
    drive(sources, point++, values);
    return solver.solve(values, {}, x).status == Status::converged;
  };
  if (!solve()) return state.SkipWithError("no operating point");  // which chooses the pivots
  state.counters["thread_MB"] = resident_MB() - before;
  for (auto _ : state) {
    if (!solve()) return state.SkipWithError("no operating point");
  }
  state.counters["entries"] = static_cast<double>(equations.pattern().entries());
}

/// Times operating points in threads, a solver for each: points a second. Each begins at the same voltages, as the
/// samples of a batch do, so that the work does not depend on which thread solved what before; kBeside of them are
/// solved side by side.
void threaded_points(benchmark::State& state) {
  constexpr int kPoints = 64, kBeside = 16;
  const auto n = static_cast<int>(state.range(0)), threads = static_cast<int>(state.range(1));
  const NodalEquations equations = equations_of(grid(n, 4));
  const OperatingPointSolver first(equations);
  const std::vector<OutputAction> none;
  struct Own {
    explicit Own(const OperatingPointSolver& like) : solver(like) {}
    OperatingPointSolver solver;
    std::vector<std::vector<double>> values, x;
    std::vector<OperatingPointSolver::Request> requests;
  };
  std::vector<std::unique_ptr<Own>> own;
  for (int t = 0; t < threads; ++t) {
    own.push_back(std::make_unique<Own>(first));
    own.back()->values.assign(kBeside, equations.values());
    own.back()->x.resize(kBeside);
    for (std::size_t p = 0; p < kBeside; ++p)
      own.back()->requests.push_back({&own.back()->values[p], &none, &own.back()->x[p]});
  }
  const std::vector<std::size_t> sources = sources_of(equations);
  for (auto _ : state) {
    parallel_for(kPoints / kBeside, threads, [&](Index begin, int thread) {
      Own& mine = *own[static_cast<std::size_t>(thread)];
      for (std::size_t p = 0; p < kBeside; ++p) {
        drive(sources, 2 * static_cast<int>(begin * kBeside + static_cast<Index>(p)), mine.values[p]);
        mine.x[p].assign(static_cast<std::size_t>(equations.unknowns()), 0.0);
      }
      mine.solver.solve(std::span(mine.requests));
    });
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kPoints);
}

BENCHMARK(random_points)
    ->Name("netlist/random_points")
    ->ArgNames({"nodes", "near"})
    ->ArgsProduct({{100, 1000, 10000, 100000}, {1}})
    ->Args({100, 0})
    ->Args({1000, 0})
    ->Args({3000, 0})
    ->Args({10000, 0})
    ->Iterations(5)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(threaded_points)
    ->Name("netlist/threaded_points")
    ->ArgNames({"side", "threads"})
    ->ArgsProduct({{10, 32}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

// Fixed counts: every repetition has ngspice run again.
BENCHMARK(operating_points)
    ->Name("netlist/operating_points")
    ->ArgNames({"side", "diodes"})
    ->ArgsProduct({{10, 32}, {0, 4, 1}})
    ->Iterations(50)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(operating_points)
    ->Name("netlist/operating_points")
    ->ArgNames({"side", "diodes"})
    ->ArgsProduct({{100, 316}, {0, 4}})
    ->Iterations(10)
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace nudge::bench

BENCHMARK_MAIN();
