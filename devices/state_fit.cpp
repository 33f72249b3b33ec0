// SPDX-License-Identifier: Apache-2.0
#include "devices/state_fit.hpp"

#include <algorithm>
#include <cmath>

namespace nudge {

double polynomial(const std::vector<double>& coefficients, double r) {
  double sum = 0;
  for (std::size_t k = coefficients.size(); k > 0; --k) sum = sum * r + coefficients[k - 1];
  return sum;
}

double StateFit::at(double r) const {
  r = std::max(r, 1e-7);
  if (numbers.size() > 4 && r >= numbers[4]) return polynomial({numbers.begin() + 5, numbers.end()}, r);
  return std::clamp(numbers[0] * std::log(r) + numbers[1], numbers[2], numbers[3]);
}

const char* StateFit::problem() const {
  if (numbers.empty()) return "";
  for (double x : numbers) {
    if (!std::isfinite(x)) return "must be finite numbers";
  }
  if (numbers.size() != 4 && numbers.size() < 6) {
    return "must be [a, b, lowest, highest] or [a, b, lowest, highest, knee, q0, ...]";
  }
  return numbers[2] <= numbers[3] ? "" : "must have lowest <= highest (third and fourth number)";
}

}  // namespace nudge
