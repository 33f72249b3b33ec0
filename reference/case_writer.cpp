// SPDX-License-Identifier: Apache-2.0
#include "reference/case_kind.hpp"

#include <numeric>

#include "sim/base/errors.hpp"

namespace nudge {

void CaseWriter::add(const std::string& name, H5Shape shape, const Matrix<double>& values, CaseTolerance tolerance,
                     CaseError error, const std::string& scale) {
  // In every build: what is written must be what the cases' documents define.
  if (std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>()) != values.size()) {
    contract_violated((name + ": number of values").c_str(), __FILE__, __LINE__);
  }
  all_.push_back({"out/" + name, std::move(shape), std::vector<double>(values.data(), values.data() + values.size()),
                  float32_ ? tolerance.narrow : tolerance.wide, error, scale});
}

void CaseWriter::list(const std::string& name, const std::vector<double>& values, CaseTolerance tolerance,
                      CaseError error) {
  const auto count = static_cast<Index>(values.size());
  add(name, {count}, Eigen::Map<const Matrix<double>>(values.data(), 1, count), tolerance, error);
}

}  // namespace nudge
