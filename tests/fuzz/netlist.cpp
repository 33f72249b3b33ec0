// SPDX-License-Identifier: Apache-2.0
// A SPICE netlist, which may include itself; of what is read, the operating point, which must be found or not.
#include "netlist/netlist_file.hpp"
#include "netlist/operating_point.hpp"
#include "tests/fuzz/one_input.hpp"

using namespace nudge;

namespace {

constexpr int kMostUnknowns = 24;  // more say nothing new and take time
constexpr int kManySteps = 500;    // of a point that is not found: thousands are nine tenths of the time

/// A waveform that lacks nothing has a value and a slope at any time, and its jumps end.
void follow(const Element& e) {
  if (e.wave.kind == Waveform::Kind::none || !e.wave.missing().empty()) return;
  for (const double t : {0.0, 1e-9, 1e-3, 1.0}) {
    volatile const double both = e.wave.at(t) + e.wave.slope(t);
    static_cast<void>(both);
  }
  std::vector<double> times;
  if (e.wave.breaks(1e-3, 100, times) && times.size() > 101) std::terminate();
}

void solve(Netlist netlist) {
  for (const Element& e : netlist.elements) follow(e);
  const NodalEquations equations(std::move(netlist));
  if (equations.unknowns() > kMostUnknowns) return;
  OperatingPointSolver solver(equations);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  const OperatingPoint found = solver.solve(equations.values(), {}, x);
  if (found.status != Status::converged && describe_failure(equations, found).empty()) std::terminate();
  // Side by side the same is found, or nothing. What is looked for in vain for long is not looked for twice more.
  if (found.status != Status::converged && found.iterations > kManySteps) return;
  const std::vector<double> values = equations.values();
  const std::vector<OutputAction> none;
  std::vector<double> beside(x.size(), 0.0), other(x.size(), 0.0);
  OperatingPointSolver::Request requests[] = {{&values, &none, &beside}, {&values, &none, &other}};
  solver.solve(requests);
  if ((requests[0].found.status == Status::converged) != (found.status == Status::converged)) std::terminate();
  if (beside != other) std::terminate();
  for (const std::vector<double>* solved : {&x, &beside}) {
    for (const double value : *solved) {
      if (!std::isfinite(value)) std::terminate();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::refused_or_read([&] {
    const std::string text = fuzz::text_of(data, size);
    solve(parse_netlist("fuzz.cir", text, [&](const std::string& name, const std::string&, std::string& path) {
      path = name;
      return text;
    }));
  });
}
