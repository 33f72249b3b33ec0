// SPDX-License-Identifier: Apache-2.0
// Cases of the attention family: sizes come from the shapes of the weights, the rest from attributes.
#include <fmt/format.h>

#include "mixers/attention/gradient_descent.hpp"
#include "mixers/attention/heads.hpp"
#include "reference/case_kind.hpp"
#include "reference/tape_case.hpp"

namespace nudge {
namespace {

/// Reads heads, head_width and width from a projection (H, dh, d).
MixerOptions sizes_of(const H5Reader& file, const std::string& projection) {
  const H5Shape shape = file.shape(projection);
  if (shape.size() != 3 || shape[0] < 1 || shape[1] < 1 || shape[2] < 1) {
    file.fail(projection, fmt::format("shape {} (must be (heads, head width, width), all positive)", to_string(shape)));
  }
  MixerOptions options;
  options.heads = shape[0];
  options.of<AttentionOptions>().head_width = shape[1];
  options.width = shape[2];
  options.observe = true;
  // Linear attention has one head whatever H says.
  if (options.heads > 1) check_sizes(file, {{"H", shape[0]}, {"dh", shape[1]}, {"d", shape[2]}});
  return options;
}

std::vector<CaseDataset> compute(const H5Reader& file, const MixerOptions& options) {
  return compute_mixer_case(file, file.text_attribute("kind"), options);
}

std::vector<CaseDataset> plain(const H5Reader& file) { return compute(file, sizes_of(file, "params/Wq")); }

/// Options of the kinds that descend a free energy.
MixerOptions descent_of(const H5Reader& file, const std::string& projection) {
  MixerOptions options = sizes_of(file, projection);
  options.of<DescentOptions>().temperature = positive_real(file, "T_temp");
  options.of<DescentOptions>().eta = finite_real(file, "eta");
  return options;
}

std::vector<CaseDataset> energy(const H5Reader& file) { return compute(file, descent_of(file, "params/W1")); }
std::vector<CaseDataset> newton(const H5Reader& file) { return compute(file, descent_of(file, "params/Wq")); }

std::vector<CaseDataset> loop(const H5Reader& file) {
  MixerOptions options = descent_of(file, "params/W1");
  options.iterations = static_cast<int>(positive_size(file, "K"));
  options.of<DescentOptions>().refresh = flag_of(file, "refresh");
  return compute(file, options);
}

std::vector<CaseDataset> ridge(const H5Reader& file) {
  MixerOptions options = descent_of(file, "params/Wq");
  options.of<DescentOptions>().ridge = positive_real(file, "eps");
  return compute(file, options);
}

std::vector<CaseDataset> stack(const H5Reader& file) {
  MixerOptions options = sizes_of(file, "params/l0_Wq");
  options.of<MomentumOptions>().layers = static_cast<int>(positive_size(file, "layers"));
  if (const auto last = fmt::format("params/l{}_Wq", options.of<MomentumOptions>().layers - 1); !file.has(last)) {
    file.fail("attribute layers", fmt::format("{}, but {} is missing", options.of<MomentumOptions>().layers, last));
  }
  return compute(file, options);
}

}  // namespace

std::vector<CaseKind> attention_case_kinds() {
  return {{"mha", plain},        {"gd_elastic", energy},   {"gd_inner", energy},     {"loop_elastic", loop},
          {"loop_inner", loop},  {"linattn", plain},       {"glinattn", plain},      {"momen", plain},
          {"nag", plain},        {"nag_sutskever", plain}, {"momen_stack", stack},   {"nag_stack", stack},
          {"mha2nd", newton},    {"mha2nd1st", plain},     {"mha2nd1st_nov", plain}, {"light2nd", ridge},
          {"light2nd1st", plain}};
}

}  // namespace nudge
