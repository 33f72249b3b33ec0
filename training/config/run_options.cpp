// SPDX-License-Identifier: Apache-2.0
#include "training/config/run_options.hpp"

#include "sim/base/parallel.hpp"
#include "training/config/config_table.hpp"
#include "training/config/input_files.hpp"
#include "training/learning/estimators/registry.hpp"

namespace nudge {

const Section<RunOptions>& run_section() {
  using param::choice, param::integer, param::path, param::real, param::zero_is;
  std::vector<std::string> presets = {""};
  for (const Preset& preset : program_presets()) presets.push_back(preset.name);
  std::vector<std::string> estimators = estimator_names();
  estimators.insert(estimators.end(), {backprop_name, own_estimator_name});
  static const Section<RunOptions> section = {
      field(choice("preset", "", presets, "Values to start from; empty: none. `nudge config presets` lists them."),
            &RunOptions::preset),
      field(integer("seed", "1", at_least(0),
                    "Seed of every random number; same build, config and seed give the same bits."),
            &RunOptions::seed),
      field(zero_is("all", integer("threads", "all", between(0, 4096),
                                   "Threads; all uses every core. Results do not depend on it.")),
            &RunOptions::threads),
      field(choice("precision", "float", {"float", "double"},
                   "Arithmetic of states and weights: float to train, double to check gradients."),
            &RunOptions::precision),
      field(choice("estimator", "aep_anchored", estimators,
                   "How the gradient is measured. ep: nudge without correction. ep_contrastive: the same, from the "
                   "energies of the nudged states. aep: correction at z*, as in the founding note. *_anchored: F(z) "
                   "- F(z*) in the nudged phases. aep_tracked: both nudged states advance together, correction at "
                   "their mean. aep_transposed: attention only through its transpose. aep_npoint: several nudges. "
                   "dyadic: state and adjoint together. linear_adjoint: a <- a + eps (J' a + dC/dz). implicit: "
                   "exact adjoint solve. bptt: backprop through the free phase. energy_alternating: every layer "
                   "descends its own free energy at z*, the read-out descends the cost. sequence_model, "
                   "free_transformer and argmax_read do not settle: they always learn by backprop.",
                   "anchoring repairs an unsettled free phase, measured"),
            &RunOptions::estimator),
      field(choice("product.kernel", "auto", {"auto", "portable"},
                   "Library of the products in float. auto: oneDNN, with code for the processor at run time. "
                   "portable: the same instructions on every processor, slower, to compare two machines bit by bit. "
                   "Results differ in rounding.",
                   "auto is 1.4 to 2 times as fast on AVX-512; measured"),
            &RunOptions::product_kernel),
      field(
          path("output.file", "", "HDF5 file to write; empty: the name of the config with .h5. The option --out wins."),
          &RunOptions::output_file),
      field(integer("output.print_every", "50", at_least(1), "Print a line every so many steps."),
            &RunOptions::print_every),
      field(integer("output.log_rows", "10000", between(2, 1000000),
                    "Most rows in the log of a training. When the log is full, every second row is dropped, and "
                    "from then on every 2nd entry is kept, then every 4th, and so on. Memory, file and time per "
                    "step do not grow."),
            &RunOptions::log_rows)};
  return section;
}

RunRecord record_of(const std::string& kind, const Config& config) {
  const RunOptions options = run_options(config);
  return {kind,
          dump_toml(config, DumpComments::none),
          static_cast<std::int64_t>(options.seed),
          options.precision,
          thread_count(options.threads),
          now_utc(),
          0,
          input_files(config)};
}

const Section<GradcheckOptions>& gradcheck_section() {
  using param::choice, param::distinct, param::integer, param::real, param::texts;
  std::vector<std::string> comparable = estimator_names();
  comparable.insert(comparable.end(), {own_estimator_name, "all"});
  static const Section<GradcheckOptions> section = {
      field(distinct(texts("gradcheck.estimators", "ep, aep, aep_anchored, aep_transposed, linear_adjoint", comparable,
                           "Estimators that `nudge gradcheck` compares with the exact adjoint. all: every one. bptt "
                           "is always included where relaxation.solver = euler.")),
            &GradcheckOptions::estimators),
      field(integer("gradcheck.batches", "1", between(1, 10000), "Batches that the comparison averages over."),
            &GradcheckOptions::batches),
      field(integer("gradcheck.finite_difference_entries", "8", between(0, 1000000),
                    "Parameters per group checked by central differences of the settled cost; 0: none."),
            &GradcheckOptions::finite_difference_entries),
      field(real("gradcheck.settle_tolerance", "1e-12", strictly_between(0, 1),
                 "|F|/|z| of the fixed point at which the exact adjoint is solved (double precision)."),
            &GradcheckOptions::settle_tolerance),
      field(real("gradcheck.adjoint_tolerance", "1e-12", strictly_between(0, 1),
                 "Relative residual of the adjoint solve J' a = -dC/dz, also of the estimator implicit."),
            &GradcheckOptions::adjoint_tolerance),
      field(integer("gradcheck.adjoint_iterations", "400", between(1, 1000000),
                    "GMRES iterations of that solve, at most."),
            &GradcheckOptions::adjoint_iterations),
      field(integer("gradcheck.train_steps", "0", at_least(0),
                    "Training steps before the comparison: near the stability margin the gradient is harder than at a "
                    "random start."),
            &GradcheckOptions::train_steps),
      field(integer("gradcheck.starts", "0", between(0, 1000000),
                    "Random starts, uniform in -pi to pi, from which samples of the first batch settle. Their ends "
                    "show how many equilibria a network with an energy has."),
            &GradcheckOptions::starts),
      field(distinct(param::integers(
                "gradcheck.record", "[]", at_least(0),
                "Samples of the first batch, numbered from 0, whose phases the file keeps step by step. It has the "
                "states, and the part of each step in the gradients of the estimator and of bptt, which agree to "
                "first order in beta. For Euler steps with relaxation.schedule = parallel.",
                "Ernoult et al., arXiv:1905.13633")),
            &GradcheckOptions::record),
      field(choice("gradcheck.weights", "configured", {"configured", "programmed"},
                   "Weights of the comparison. configured: training steps on the configured devices. programmed: "
                   "training steps on digital weights, which are then programmed into the devices (with "
                   "crossbar.scale = renew the window is fitted to them). Points of a sweep that differ only in "
                   "devices and circuits program the same trained network."),
            &GradcheckOptions::weights),
      field(param::quantity("gradcheck.age", "0 s", Unit::second, at_least(0),
                            "Time between programming and the comparison, for drift, leak, telegraph and 1/f noise."),
            &GradcheckOptions::age),
      field(choice("gradcheck.reference", "circuit", {"circuit", "device", "nominal"},
                   "Reference gradient. circuit: the exact gradient of the simulated circuit, without fresh noise "
                   "and rounding, with respect to its devices, through resistive wires. device: of the programmed "
                   "weights in ideal circuits. nominal: of the intended weights, which needs gradcheck.weights = "
                   "programmed."),
            &GradcheckOptions::reference)};
  return section;
}

}  // namespace nudge
