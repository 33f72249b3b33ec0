// SPDX-License-Identifier: Apache-2.0
#include "reference/hopnet_outputs.hpp"

#include "sim/base/errors.hpp"

namespace nudge {

/// NETWORKS.md, section 1.6: float64, and what it says of float32.
double HopnetWriter::tolerance(HopnetError error) const {
  switch (error) {
    case HopnetError::point: return p_->float32 ? 1e-5 : 1e-13;
    case HopnetError::euler: return p_->float32 ? 1e-5 : 1e-12;
    case HopnetError::fixed_point: return p_->float32 ? 1e-4 : 1e-11;
    case HopnetError::exact: return p_->float32 ? 1e-4 : 1e-10;
    case HopnetError::nudged: return p_->float32 ? 1e-3 : 1e-9;
    case HopnetError::euler_gradient: return p_->float32 ? 1e-3 : 1e-10;
  }
  return 0;
}

void HopnetWriter::rows(const std::string& name, const Matrix<double>& values, HopnetError error) {
  this->values(name, {values.rows(), values.cols()}, std::vector<double>(values.data(), values.data() + values.size()),
               error);
}

void HopnetWriter::values(const std::string& name, const H5Shape& shape, std::vector<double> values,
                          HopnetError error) {
  all_.push_back({"out/" + name, shape, std::move(values), tolerance(error)});
}

void HopnetWriter::parameters(const std::string& name, const Gradient<double>& gradient, HopnetError error,
                              bool readout) {
  for (std::size_t i = 0; i < p_->parameters.size(); ++i) {
    const HopnetParameter& parameter = p_->parameters[i];
    const bool outside = parameter.name == "Wo" || parameter.name == "bo";
    if (outside && !readout) continue;
    Matrix<double> g = gradient[static_cast<int>(i)];
    if (parameter.kernels) g = g.transpose().eval();
    all_.push_back({"out/" + name + "/" + parameter.name, parameter.shape,
                    std::vector<double>(g.data(), g.data() + g.size()),
                    tolerance(outside ? HopnetError::exact : error)});
  }
}

}  // namespace nudge
