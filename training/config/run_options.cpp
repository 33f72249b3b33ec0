// SPDX-License-Identifier: Apache-2.0
#include "training/config/run_options.hpp"

#include "sim/base/parallel.hpp"
#include "training/config/config_table.hpp"
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
                   "How the gradient is measured. ep: nudge without correction; ep_contrastive: the same, the energies "
                   "of the nudged states contrasted; aep: the correction at z*, as in the founding note; *_anchored: "
                   "F(z) - F(z*) in the nudged phases; aep_tracked: both nudged states advance together, correction at "
                   "their mean; aep_transposed: attention only through its transpose; aep_npoint: several nudges; "
                   "dyadic: state and adjoint together; linear_adjoint: a <- a + eps (J' a + dC/dz); implicit: exact "
                   "adjoint solve; bptt: backprop through the free phase; energy_alternating: every layer descends its "
                   "own free energy at z*, the read-out the cost; backprop: what sequence_model, free_transformer and "
                   "argmax_read learn by, which do not settle, whatever stands here.",
                   "anchoring repairs an unsettled free phase, measured"),
            &RunOptions::estimator),
      field(choice("product.kernel", "auto", {"auto", "portable"},
                   "Library of the products in float. auto: oneDNN, its code chosen for the processor at run time; "
                   "portable: the same instructions on every processor, to compare two machines bit by bit, slower. "
                   "Results differ in rounding.",
                   "auto is 1.4 to 2 times as fast on AVX-512; measured"),
            &RunOptions::product_kernel),
      field(
          path("output.file", "", "HDF5 file to write; empty: the name of the config with .h5. The option --out wins."),
          &RunOptions::output_file),
      field(integer("output.print_every", "50", at_least(1), "Print a line every so many steps."),
            &RunOptions::print_every),
      field(integer("output.log_rows", "10000", between(2, 1000000),
                    "Rows that the log of a training holds at most. Before it would have more every second row goes, "
                    "and from then on every 2nd entry stays, then every 4th, ... and the last: memory, file and time "
                    "per step do not grow."),
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
          now_utc()};
}

const Section<GradcheckOptions>& gradcheck_section() {
  using param::choice, param::distinct, param::integer, param::real, param::texts;
  std::vector<std::string> comparable = estimator_names();
  comparable.insert(comparable.end(), {own_estimator_name, "all"});
  static const Section<GradcheckOptions> section = {
      field(distinct(texts("gradcheck.estimators", "ep, aep, aep_anchored, aep_transposed, linear_adjoint", comparable,
                           "Estimators that `nudge gradcheck` compares with the exact adjoint; bptt is always one of "
                           "them where relaxation.solver = euler; all: every one.")),
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
      field(
          integer(
              "gradcheck.train_steps", "0", at_least(0),
              "Train this many steps first: the gradient near the stability margin is harder than at a random start."),
          &GradcheckOptions::train_steps),
      field(integer("gradcheck.starts", "0", between(0, 1000000),
                    "Random starts, uniform in -pi to pi, from which samples of the first batch settle: how many end "
                    "where the free phase ends tells how many equilibria a network with an energy has."),
            &GradcheckOptions::starts),
      field(distinct(param::integers(
                "gradcheck.record", "[]", at_least(0),
                "Samples of the first batch, numbered from 0, whose phases the file keeps step by step: states, and "
                "what every step adds to the gradient of an estimator that nudges and to that of bptt, which agree to "
                "first order in beta. For phases of Euler steps in which all nodes move at once.",
                "Ernoult et al., arXiv:1905.13633")),
            &GradcheckOptions::record),
      field(choice("gradcheck.weights", "configured", {"configured", "programmed"},
                   "configured: the training steps run on the configured devices; programmed: on exact numbers, which "
                   "are then programmed into the devices (with crossbar.scale = renew the window is fitted to them); "
                   "the points of a sweep that differ in devices and circuits alone program the same trained network."),
            &GradcheckOptions::weights),
      field(param::quantity("gradcheck.age", "0 s", Unit::second, at_least(0),
                            "Time between programming and the comparison, for drift, leak, telegraph and 1/f noise."),
            &GradcheckOptions::age),
      field(choice("gradcheck.reference", "circuit", {"circuit", "device", "nominal"},
                   "Whose exact gradient is the truth: that of the circuit which is simulated, without fresh noise and "
                   "rounding, with respect to its devices, through wires where they have resistance; of the weights "
                   "which the lines see, in ideal circuits; or of the numbers they were meant to hold, which needs "
                   "gradcheck.weights = programmed."),
            &GradcheckOptions::reference)};
  return section;
}

}  // namespace nudge
