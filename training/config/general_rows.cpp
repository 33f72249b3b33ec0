// SPDX-License-Identifier: Apache-2.0
#include "training/config/config_table.hpp"
#include "training/config/rows.hpp"
#include "training/learning/estimators/estimator.hpp"

namespace nudge {

ParamTable general_rows() {
  using param::choice;
  using param::integer;
  using param::path;
  using param::real;
  using param::zero_is;
  std::vector<std::string> presets = {""};
  for (const Preset& preset : program_presets()) presets.push_back(preset.name);
  return {
      choice("preset", "", presets, "Values to start from; empty: none. `nudge config presets` lists them."),
      integer("seed", "1", at_least(0), "Seed of every random number; same build, config and seed give the same bits."),
      zero_is("all", integer("threads", "all", between(0, 4096),
                             "Threads; all uses every core. Results do not depend on it.")),
      choice("precision", "float", {"float", "double"},
             "Arithmetic of states and weights: float to train, double to check gradients."),
      choice(
          "estimator", "aep_anchored", estimator_names(),
          "How the gradient is measured. ep: nudge without correction; ep_contrastive: the same, the energies of the "
          "nudged states contrasted; aep: the correction at z*, as in the founding note; *_anchored: F(z) - F(z*) in "
          "the nudged phases; aep_tracked: both nudged states advance together, "
          "correction at their mean; aep_transposed: attention only through its transpose; aep_npoint: several nudges; "
          "dyadic: state and adjoint together; linear_adjoint: a <- a + eps (J' a + dC/dz); implicit: exact adjoint "
          "solve; bptt: backprop through the free phase.",
          "anchoring repairs an unsettled free phase, measured"),
      zero_is(
          "auto",
          real("beta", "auto", at_least(0),
               "Nudge strength per token (the 1/(B T) of the mean cost is taken out, so it means the same at any batch "
               "size). auto: "
               "1e-4 in float (1e-2 for aep_transposed, aep_npoint and ep_contrastive) and 1e-5 in double (1e-4 for "
               "ep_contrastive).",
               "rounding error of the gradient is (1..5)e-7/beta in float; larger beta leaves the basin near the "
               "stability "
               "margin; measured")),
      choice("product.kernel", "auto", {"auto", "portable"},
             "Library of the products in float. auto: oneDNN, its code chosen for the processor at run time; "
             "portable: the same instructions on every processor, to compare two machines bit by bit, slower. Results "
             "differ in rounding.",
             "auto is 1.4 to 2 times as fast on AVX-512; measured"),
      path("output.file", "", "HDF5 file to write; empty: the name of the config with .h5. The option --out wins."),
      integer("output.print_every", "50", at_least(1), "Print a line every so many steps."),
  };
}

}  // namespace nudge
