// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/commands.hpp"
#include "apps/commands/text_table.hpp"
#include "apps/streams.hpp"
#include "circuits/netlist/netlist_reader.hpp"
#include "circuits/netlist/netlist_writer.hpp"
#include "circuits/netlist/operating_point.hpp"
#include "sim/base/units.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/h5_reader.hpp"
#include "sim/io/json_text.hpp"
#include "training/config/assembly.hpp"
#include "training/config/stored_config.hpp"
#include "training/models/netlist/netlist_config.hpp"
#include "training/models/registry.hpp"
#include "training/models/weight_file.hpp"

namespace nudge {
namespace {

struct NetlistCommand {
  std::string file, trained, out;
  bool op = false, json = false;
};

nlohmann::json json_of(const NodalEquations& equations, const OperatingPoint& found, const std::vector<double>& x) {
  nlohmann::json nodes = nlohmann::json::object(), currents = nlohmann::json::object();
  const Netlist& netlist = equations.netlist();
  for (std::size_t i = 0; i < netlist.nodes.size(); ++i) nodes[netlist.nodes[i]] = x[i];
  for (std::size_t k = 0; k < netlist.elements.size(); ++k) {
    if (equations.branch(k) >= 0) currents[netlist.elements[k].name] = x[static_cast<std::size_t>(equations.branch(k))];
  }
  return {{"nodes", nodes},
          {"currents_A", currents},
          {"residual_A", found.residual_A},
          {"iterations", found.iterations},
          {"status", to_string(found.status)}};
}

std::string table_of(const NodalEquations& equations, const OperatingPoint& found, const std::vector<double>& x) {
  std::vector<std::vector<std::string>> cells = {{"unknown", "value"}};
  for (int i = 0; i < equations.unknowns(); ++i) {
    cells.push_back({equations.unknown_name(i), format_quantity(x[static_cast<std::size_t>(i)],
                                                                i < equations.nodes() ? Unit::volt : Unit::ampere, 7)});
  }
  return fmt::format("{}{} iterations, largest net current of a node {}\n", text_table(cells, 0), found.iterations,
                     format_quantity(found.residual_A, Unit::ampere, 3));
}

/// The netlist of a trained run with the values that it has learnt, as a file.
ExitCode write_trained(const NetlistCommand& options) {
  if (options.out.empty()) throw UserError("netlist: --trained needs -o OUT.cir, the file to write");
  const Config config = stored_program_config(H5Reader(options.trained));
  if (network_kind(config).name != "netlist") {
    throw UserError(fmt::format("{}: network.kind = {} (must be netlist)", options.trained, network_kind(config).name));
  }
  const auto plan = netlist_plan_alone(config, options.file);
  std::vector<Matrix<double>> weights;
  plan->initial(0, weights);
  read_weights(options.trained, *plan, weights);
  std::vector<double> unit_heat_J;
  const auto network =
      make_network<double>(config, plan, Weights::configured);  // whose arrays say what a number stands for
  for (int p = 0; p < network->parameters(); ++p) unit_heat_J.push_back(network->map(p).traits().unit_heat_J);
  const std::string text = netlist_text(plan->with_values(weights, unit_heat_J), "values learnt in " + options.trained);
  write_atomically(options.out, std::as_bytes(std::span(text)), Overwrite::must_not_exist);
  answer("{}\n", options.out);
  return ExitCode::ok;
}

ExitCode run_netlist(const NetlistCommand& options) {
  if (!options.trained.empty()) return write_trained(options);
  if (options.file.empty()) throw UserError("netlist: FILE.cir is missing (or --trained RUN.h5)");
  const NodalEquations equations(read_netlist(options.file));
  if (!options.op) {
    const Netlist& netlist = equations.netlist();
    answer("{}\n{} elements, {} nodes, {} unknowns, {} entries of the matrix (--op: its operating point)\n",
           netlist.title, netlist.elements.size(), netlist.nodes.size(), equations.unknowns(),
           equations.pattern().entries());
    return ExitCode::ok;
  }
  OperatingPointSolver solver(equations);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  const OperatingPoint found = solver.solve(equations.values(), {}, x);
  if (found.status != Status::converged) {
    throw NumericalFailure(fmt::format("{}: {}", options.file, describe_failure(equations, found)));
  }
  answer("{}", options.json ? json_text(json_of(equations, found, x), 2) + "\n" : table_of(equations, found, x));
  return ExitCode::ok;
}

std::function<ExitCode()> add_netlist(CLI::App& app) {
  const auto options = std::make_shared<NetlistCommand>();
  app.add_option("file", options->file, "SPICE netlist");
  app.add_option("--trained", options->trained,
                 "Run file of nudge train: write its netlist with the values that it has learnt");
  app.add_option("-o,--out", options->out, "File to write, which must not exist");
  app.add_flag("--op", options->op, "Solve for its operating point");
  app.add_flag("--json", options->json, "Print JSON");
  return [options] { return run_netlist(*options); };
}

}  // namespace

Command netlist_command() {
  return {"netlist", "Read a SPICE netlist, solve for its operating point, write a trained one",
          "nudge netlist examples/grid.cir --op --json", add_netlist};
}

}  // namespace nudge
