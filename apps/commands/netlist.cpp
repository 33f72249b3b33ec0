// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <complex>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <span>

#include "apps/commands.hpp"
#include "apps/commands/netlist_noise.hpp"
#include "apps/commands/text_lines.hpp"
#include "apps/streams.hpp"
#include "circuits/netlist/memristor_devices.hpp"
#include "netlist/ac_response.hpp"
#include "netlist/branch_states.hpp"
#include "netlist/expression.hpp"
#include "netlist/inductor_states.hpp"
#include "netlist/netlist_file.hpp"
#include "netlist/node_capacitances.hpp"
#include "netlist/operating_point.hpp"
#include "netlist/point_stability.hpp"
#include "netlist/switch_states.hpp"
#include "netlist/transient.hpp"
#include "sim/base/text.hpp"
#include "sim/base/units.hpp"
#include "sim/io/atomic_file.hpp"
#include "training/config/learnt_netlist.hpp"
#include "training/config/netlist_bench.hpp"

namespace nudge {
namespace {

struct NetlistCommand {
  std::string file, trained, out, tran, ac, noise, bill, vectors;
  std::size_t samples = 8;
  std::vector<std::string> capacitance;
  std::size_t elements_limit = NetlistLimit::standard;
  bool op = false, json = false, waves = false;
};

/// Text on an operating point that no circuit keeps; empty: perturbations decay there, or nothing is known.
std::string left_text(std::optional<double> growth) {
  if (!growth || !(*growth > 0)) return "";
  return fmt::format(
      "unstable: a perturbation of this operating point grows e-fold in {} with 1 pF at every node. So no circuit "
      "stays there. --tran TIME shows where it goes if nodes are unequal (--capacitance \"1 pF\" --capacitance "
      "\"NODE=2 pF\")",
      format_quantity(1 / *growth, Unit::second, 3));
}

/// Warns where no circuit keeps an operating point.
void warn_left(const NetlistCommand& options, std::optional<double> growth) {
  if (const std::string left = left_text(growth); !left.empty()) say("nudge: warning: {}: {}\n", options.file, left);
}

/// The same of the operating point at the volts where a transient begins or ends. Equal nodes keep a balance that no circuit keeps.
void warn_left_at(const NetlistCommand& options, const NodalEquations& equations, const std::vector<double>& volts) {
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  std::copy_n(volts.begin(), equations.nodes(), x.begin());
  OperatingPointSolver solver(equations);
  if (solver.solve(equations.values(), {}, x).status != Status::converged) return;
  double moved = 0, largest = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(equations.nodes()); ++i) {
    moved = std::max(moved, std::abs(x[i] - volts[i]));
    largest = std::max(largest, std::abs(x[i]));
  }
  if (moved <= 1e-3 * largest) warn_left(options, growth_rate(equations, x));
}

nlohmann::json json_of(const NodalEquations& equations, const OperatingPoint& found, const std::vector<double>& x,
                       std::optional<double> growth) {
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
          {"growth_per_s", growth ? nlohmann::json(*growth) : nlohmann::json()},
          {"status", left_text(growth).empty() ? std::string(to_string(found.status)) : "unstable"}};
}

std::string table_of(const NodalEquations& equations, const OperatingPoint& found, const std::vector<double>& x) {
  std::vector<std::vector<std::string>> cells = {{"unknown", "value"}};
  for (int i = 0; i < equations.unknowns(); ++i) {
    cells.push_back({equations.unknown_name(i), format_quantity(x[static_cast<std::size_t>(i)],
                                                                i < equations.nodes() ? Unit::volt : Unit::ampere, 7)});
  }
  return fmt::format("{}{} step{} of Newton's method, largest net current of a node {}\n", text_table(cells, 0),
                     found.iterations, found.iterations == 1 ? "" : "s",
                     format_quantity(found.residual_A, Unit::ampere, 3));
}

/// Name of a node in a vector of ngspice, in quotes where it is no plain word. ngspice 39 ends names at a closing parenthesis.
std::string vector_name(const Netlist& netlist, int node) {
  const std::string& name = netlist.nodes[static_cast<std::size_t>(node)];
  const bool plain =
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return c == '_' || std::isalnum(c) != 0; });
  return plain ? name : fmt::format("\"{}\"", name.substr(0, name.find(')')));
}

/// Cards that solve for the operating point, and in ngspice print the outputs of the training with all their digits.
std::string analysis_text(const LearntNetlist& learnt) {
  std::string prints;
  const auto volts = [&](int node) { return fmt::format("v({})", vector_name(learnt.after, node)); };
  for (const auto& [plus, minus] : learnt.outputs) {
    const std::string difference = minus == kGround ? "" : "-" + volts(minus);
    prints += fmt::format("print {}{}\n", plus == kGround ? "" : volts(plus), difference);
  }
  return fmt::format(".op\n.control\nset numdgt=15\nrun\n{}.endc\n", prints);
}

/// Writes the netlist of a trained run, with the values that it has learnt, to a file.
ExitCode write_trained(const NetlistCommand& options) {
  if (options.out.empty()) throw UserError("netlist: --trained needs -o OUT.cir, the file to write");
  for (const std::string& file : {options.out, options.bill, options.vectors}) {
    std::error_code error;
    if (!file.empty() && std::filesystem::exists(file, error))
      throw UserError(fmt::format("netlist: {} is there already (remove it, or name another file)", file));
  }
  const LearntNetlist learnt = learnt_netlist(options.trained, options.file);
  std::string text = netlist_text(learnt.after, "values learnt in " + options.trained);
  text.insert(text.rfind(".end"), analysis_text(learnt));
  const auto write = [](const std::string& file, const std::string& what) {
    write_atomically(file, std::as_bytes(std::span(what)), Overwrite::must_not_exist);
    answer("{}\n", file);
  };
  if (options.bill.empty() && options.vectors.empty()) {
    write(options.out, text);
    return ExitCode::ok;
  }
  const BenchSheet sheet = bench_sheet(learnt, options.samples);
  write(options.out, text);
  if (!options.bill.empty()) write(options.bill, bill_csv(learnt, sheet));
  if (!options.vectors.empty()) write(options.vectors, vectors_csv(learnt, sheet));
  return ExitCode::ok;
}

/// Reads every --capacitance: for all nodes, or "NODE = C".
std::vector<double> capacitances_of(const NetlistCommand& options, const Netlist& netlist) {
  double everywhere = 0;
  std::vector<std::string> entries;
  for (const std::string& one : options.capacitance) {
    if (one.find('=') != std::string::npos) {
      entries.push_back(one);
      continue;
    }
    everywhere = parse_quantity(one, Unit::farad);
    if (!(everywhere >= 0)) throw UserError("netlist: --capacitance must be at least 0 F");
  }
  return node_capacitances(netlist, everywhere, entries, "netlist: --capacitance");
}

/// Card of that name in the netlist.
const std::vector<std::string>& analysis_card(const NetlistCommand& options, const Netlist& netlist, const char* name) {
  for (const std::vector<std::string>& card : netlist.analyses) {
    if (card.front() == name) return card;
  }
  throw UserError(fmt::format("{}: no {} card", options.file, name));
}

/// Reads the end of "--tran 1ms", or of the card ".tran STEP STOP"; then sources follow their waveforms.
double stop_of(NetlistCommand& options, const Netlist& netlist) {
  if (options.tran != ".tran") return parse_quantity(options.tran, Unit::second);
  const std::vector<std::string>& card = analysis_card(options, netlist, ".tran");
  if (std::find(card.begin(), card.end(), "uic") != card.end())
    throw UserError(options.file + ": .tran with uic is not simulated (leave it out: .ic holds its nodes until t = 0)");
  double stop = 0;
  std::size_t used = 0;
  if (card.size() < 3 || !read_spice_number(card[2], 0, stop, used) || used != card[2].size())
    throw UserError(options.file + ": .tran STEP STOP is expected, as numbers");
  options.waves = true;
  return stop;
}

/// Currents of inductors at the states of the nodes that stand for them, by name.
nlohmann::json inductor_currents(const Netlist& netlist, const std::vector<std::vector<double>>& volts) {
  nlohmann::json out = nlohmann::json::object();
  for (const auto& [name, node] : inductor_nodes(netlist)) {
    for (const auto& v : volts) out[name].push_back(kGyrator_S * v[static_cast<std::size_t>(node)]);
  }
  return out;
}

/// Says that a circuit has no rest, and how it began.
void say_turning(const NetlistCommand& options, const Element& which) {
  say("nudge: note: {}: {} turns itself back at rest: no operating point{}\n", to_string(which.place), which.name,
      options.waves ? ". The course begins with the switches as they are drawn" : "");
}

/// Prints how the circuit settles when its sources come on.
ExitCode print_transient(NetlistCommand options, const NodalEquations& at_rest) {
  const NodalEquations equations(with_inductor_currents(with_switch_states(with_branch_states(at_rest.netlist()))));
  StepResponseOptions how;
  how.stop_s = stop_of(options, equations.netlist());
  how.node_capacitance_F = capacitances_of(options, at_rest.netlist());
  how.node_capacitance_F.resize(equations.netlist().nodes.size(), 0.0);
  if (!(how.stop_s > 0)) throw UserError("netlist: --tran must be a time above 0, as 1 ms");
  const StepResponse found = options.waves ? waveform_response(equations, how) : step_response(equations, how);
  const auto& names = at_rest.netlist().nodes;
  if (found.status == Status::stalled) {
    const std::string why =
        found.jumping < 0
            ? "too many steps"
            : fmt::format(
                  "no step is small enough: {} jumps. A capacitance at every node helps: try --capacitance "
                  "\"10 pF\"",
                  equations.unknown_name(found.jumping));
    throw NumericalFailure(fmt::format("{}: the transient stopped at {} of {} ({})", options.file,
                                       format_quantity(found.time_s.back(), Unit::second, 4),
                                       format_quantity(how.stop_s, Unit::second, 4), why));
  }
  const bool settled = !options.waves && found.status == Status::converged, rests = found.turning < 0;
  if (options.waves || settled) warn_left_at(options, at_rest, options.waves ? found.volts.front() : found.end_V);
  if (!rests) say_turning(options, equations.netlist().elements[static_cast<std::size_t>(found.turning)]);
  if (options.json) {
    nlohmann::json nodes = nlohmann::json::object(), ends;
    for (std::size_t i = 0; i < names.size(); ++i) {
      for (const auto& volts : found.volts) nodes[names[i]].push_back(volts[i]);
      if (options.waves || rests) ends[names[i]] = found.end_V[i];
    }
    nlohmann::json out{{"time_s", found.time_s}, {"nodes", nodes}, {"end", ends}, {"status", to_string(found.status)}};
    if (const auto currents = inductor_currents(equations.netlist(), found.volts); !currents.empty())
      out["currents_A"] = currents;
    if (!options.waves) out["settled_s"] = settled ? nlohmann::json(found.settled_s) : nlohmann::json(nullptr);
    answer("{}\n", json_text(out, 2));
    return ExitCode::ok;
  }
  if (options.waves) {
    std::vector<std::vector<std::string>> ends = {{"node", "at the end"}};
    for (std::size_t i = 0; i < names.size(); ++i)
      ends.push_back({names[i], format_quantity(found.end_V[i], Unit::volt, 7)});
    answer("{}{} steps\n", text_table(ends, 0), found.time_s.size() - 1);
    return ExitCode::ok;
  }
  std::vector<std::vector<std::string>> cells = {{"node", "reached"}};
  if (rests) cells.front().emplace_back("operating point");
  for (std::size_t i = 0; i < names.size(); ++i) {
    cells.push_back({names[i], format_quantity(found.volts.back()[i], Unit::volt, 7)});
    if (rests) cells.back().push_back(format_quantity(found.end_V[i], Unit::volt, 7));
  }
  if (!rests) {
    answer("{}{} steps\n", text_table(cells, 0), found.time_s.size() - 1);
    return ExitCode::ok;
  }
  const std::string band = fmt::format("{:g} of the largest change of a node", how.band);
  answer("{}{} after {} in {} steps\n", text_table(cells, 0),
         settled ? "within " + band : "not within " + band + " even", format_quantity(found.settled_s, Unit::second, 4),
         found.time_s.size() - 1);
  return ExitCode::ok;
}

/// Prints the small signals of the nodes about the operating point, over the frequencies of a sweep.
ExitCode print_ac(const NetlistCommand& options, const NodalEquations& equations, const std::vector<double>& x) {
  const Netlist& netlist = equations.netlist();
  const bool driven =
      std::any_of(netlist.elements.begin(), netlist.elements.end(), [](const Element& e) { return e.ac != 0; });
  if (!driven) throw UserError(options.file + ": no source has an AC amplitude (V1 a 0 DC 0 AC 1)");
  std::string sweep = options.ac;
  if (sweep == ".ac") {
    sweep.clear();
    const std::vector<std::string>& card = analysis_card(options, netlist, ".ac");
    for (std::size_t i = 1; i < card.size(); ++i) sweep += (i > 1 ? " " : "") + card[i];
  }
  AcResponse response(equations, x, capacitances_of(options, netlist));
  nlohmann::json nodes = nlohmann::json::object(), currents = nlohmann::json::object();
  std::vector<std::vector<std::string>> cells = {{"frequency", "node", "amplitude", "phase"}};
  const std::vector<double> frequencies = sweep_frequencies(sweep, "netlist: --ac");
  std::vector<std::complex<double>> y;
  for (const double hertz : frequencies) {
    if (!response.at(hertz, y))
      throw NumericalFailure(fmt::format("{}: the equations are singular at {:g} Hz", options.file, hertz));
    const auto push = [&](nlohmann::json& to, std::complex<double> value) {
      to["real"].push_back(value.real());
      to["imag"].push_back(value.imag());
    };
    for (std::size_t i = 0; i < netlist.nodes.size(); ++i) {
      push(nodes[netlist.nodes[i]], y[i]);
      cells.push_back({format_quantity(hertz, Unit::hertz, 5), netlist.nodes[i],
                       format_quantity(std::abs(y[i]), Unit::volt, 5),
                       fmt::format("{:.2f} deg", std::arg(y[i]) * 180 / std::numbers::pi)});
    }
    for (std::size_t k = 0; k < netlist.elements.size(); ++k) {
      if (equations.branch(k) >= 0)
        push(currents[netlist.elements[k].name], y[static_cast<std::size_t>(equations.branch(k))]);
    }
  }
  answer("{}",
         options.json
             ? json_text(nlohmann::json{{"frequency_Hz", frequencies}, {"nodes", nodes}, {"currents_A", currents}}, 2) +
                   "\n"
             : text_table(cells, 0));
  return ExitCode::ok;
}

ExitCode run_netlist(const NetlistCommand& options) {
  if (!options.trained.empty()) return write_trained(options);
  if (options.file.empty()) throw UserError("netlist: FILE.cir is missing (or --trained RUN.h5)");
  if (!options.out.empty()) throw UserError("netlist: -o goes with --trained RUN.h5: nothing else is written");
  if (!options.bill.empty() || !options.vectors.empty())
    throw UserError("netlist: --bill and --vectors go with --trained RUN.h5: they are of a trained circuit");
  const NodalEquations equations(read_device_netlist(options.file, {options.elements_limit, "--elements-limit"}));
  for (const std::string& note : equations.netlist().notes) {
    say("nudge: note: {}{}\n", note.starts_with(options.file) ? "" : options.file + ": ", note);
  }
  if (options.waves && options.tran.empty()) throw UserError("netlist: --waves goes with --tran TIME");
  if (!options.tran.empty()) return print_transient(options, equations);
  if (!options.op && options.ac.empty() && options.noise.empty()) {
    const Netlist& netlist = equations.netlist();
    std::string ways = "--op: its operating point";
    for (const std::vector<std::string>& card : netlist.analyses)
      ways += fmt::format("; -{} {}: its card", "-" + card.front().substr(1), card.front());
    answer("{}\n{} elements, {} nodes, {} unknowns, {} entries of the matrix ({})\n", netlist.title,
           netlist.elements.size(), netlist.nodes.size(), equations.unknowns(), equations.pattern().entries(), ways);
    return ExitCode::ok;
  }
  OperatingPointSolver solver(equations);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  const OperatingPoint found = solver.solve(equations.values(), {}, x);
  if (found.status != Status::converged) {
    throw NumericalFailure(fmt::format("{}: {}", options.file, describe_failure(equations, found)));
  }
  if (!options.ac.empty()) return print_ac(options, equations, x);
  if (!options.noise.empty()) {
    const bool of_card = options.noise == ".noise";
    return print_noise(of_card ? noise_text(analysis_card(options, equations.netlist(), ".noise")) : options.noise,
                       options.json, equations, x, capacitances_of(options, equations.netlist()));
  }
  const std::optional<double> growth = growth_rate(equations, x);
  answer("{}",
         options.json ? json_text(json_of(equations, found, x, growth), 2) + "\n" : table_of(equations, found, x));
  warn_left(options, growth);
  return ExitCode::ok;
}

std::function<ExitCode()> add_netlist(CLI::App& app) {
  const auto options = std::make_shared<NetlistCommand>();
  app.add_option("file", options->file, "SPICE netlist");
  app.add_option("--trained", options->trained,
                 "Run file of nudge train: write its netlist with the values that it has learnt");
  app.add_option("-o,--out", options->out, "File to write, which must not exist");
  app.add_option(
      "--bill", options->bill,
      "With --trained, a CSV of the elements that have learnt: before, after, the nearest E96 value or device "
      "level, and how far an output moves with it");
  app.add_option(
      "--vectors", options->vectors,
      "With --trained, a CSV of test vectors: inputs, outputs with their standard deviations, node voltages");
  app.add_option("--samples", options->samples, "Test vectors: samples of the test split (or of validation)")
      ->check(CLI::Range(1, 100000));
  app.add_flag("--op", options->op, "Solve for its operating point");
  app.add_option(
      "--tran", options->tran,
      "How it settles: all capacitances empty, sources on at t = 0, for so long (as 1 ms); .tran: as the card of "
      "the file says, with --waves");
  app.add_option(
      "--ac", options->ac,
      "Small signals about its operating point: dec, oct or lin, points, first and last frequency, as \"dec 10 1 "
      "1meg\"; .ac: as the card of the file says");
  app.add_option(
      "--noise", options->noise,
      "Noise of a voltage about its operating point, as \"v(out) dec 10 1 1meg\"; .noise: as the card of the "
      "file says");
  app.add_option(
         "--capacitance", options->capacitance,
         "Of --tran, --ac and --noise: from every node to ground, beside the capacitors drawn; NODE=C, as often as "
         "needed: of one")
      ->expected(1)
      ->take_all();
  app.add_flag("--waves", options->waves,
               "Of --tran: from the operating point at t = 0, sources as their PULSE, SIN, EXP and PWL say");
  app.add_option("--elements-limit", options->elements_limit,
                 "Most elements, instances of .subckt included: more are refused before they are made")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--json", options->json, "Print JSON");
  return [options] { return run_netlist(*options); };
}

}  // namespace

Command netlist_command() {
  return {"netlist", "Read a SPICE netlist, solve for its operating point, write a trained one",
          "nudge netlist examples/grid.cir --op --json", add_netlist};
}

}  // namespace nudge
