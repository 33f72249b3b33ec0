// SPDX-License-Identifier: Apache-2.0
#include "reference/run_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

#include "reference/case_kind.hpp"
#include "sim/config/suggest.hpp"
#include "sim/io/atomic_file.hpp"
#include "sim/io/h5_document.hpp"

namespace nudge {
namespace {

const CaseKind& kind_of(const H5Reader& file) {
  const std::string name = file.text_attribute("kind");
  std::vector<std::string> names;
  for (const CaseKind& kind : case_kinds()) {
    if (kind.name == name) return kind;
    names.push_back(kind.name);
  }
  file.fail("attribute kind", fmt::format("unknown kind \"{}\" ({})", name, did_you_mean(name, names)));
}

double error_of(const CaseDataset& data, const std::vector<double>& reference, const H5Reader& file) {
  std::vector<double> difference(reference.size());
  for (std::size_t i = 0; i < reference.size(); ++i) difference[i] = data.values[i] - reference[i];
  double scale = 1;
  if (data.error == CaseError::relative) {
    scale = std::max(euclidean_norm(reference), data.least_scale);
  } else if (data.error == CaseError::relative_to && file.has(data.scale)) {
    scale = euclidean_norm(file.reals<double>(data.scale));
  }
  return euclidean_norm(difference) / (scale > 0 ? scale : 1.0);
}

}  // namespace

CaseOutcome run_case(const std::filesystem::path& input, const std::optional<std::filesystem::path>& output) {
  const H5Reader file(input);
  const CaseKind& kind = kind_of(file);
  if (output) check_output_path(*output, Overwrite::must_not_exist);
  for (const std::string& name : file.attributes()) {
    const H5Attribute value = file.attribute(name);
    const auto* real = std::get_if<double>(&value);
    if (real != nullptr && !std::isfinite(*real))
      file.fail("attribute " + name, fmt::format("{} (must be finite)", *real));
  }
  const std::vector<CaseDataset> datasets = kind.compute(file);
  CaseOutcome outcome;
  if (kind.remarks != nullptr) outcome.report += kind.remarks(file);
  H5Document document;
  document.copy_root_attributes(file);
  for (const CaseDataset& data : datasets) {
    document.dataset(data.name, data.values, data.shape, {"1", "computed by nudge case, kind " + kind.name, {}});
    if (!file.has(data.name)) continue;
    const double error = error_of(data, file.reals<double>(data.name, data.shape, NonFinite::rejected), file);
    const bool ok = error <= data.tolerance;
    ++outcome.compared;
    outcome.failed += ok ? 0 : 1;
    outcome.report += fmt::format("{:<28} error {:9.3e}  tolerance {:7.1e}  {}\n", data.name, error, data.tolerance,
                                  ok ? "ok" : "FAIL");
  }
  if (output) document.write(*output, Overwrite::must_not_exist);
  outcome.report += fmt::format("{}: kind {}, {} datasets computed, {} compared, {} failed\n", input.string(),
                                kind.name, datasets.size(), outcome.compared, outcome.failed);
  return outcome;
}

}  // namespace nudge
