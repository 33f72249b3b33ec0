// SPDX-License-Identifier: Apache-2.0
#include "circuits/linear_map_factory.hpp"

#include "circuits/digital_matrix.hpp"
#include "circuits/programming/tiki_taka.hpp"

namespace nudge {

template <class S>
std::unique_ptr<LinearMap<S>> make_linear_map(const CrossbarSpec& spec, const Matrix<S>& weights, std::uint32_t id,
                                              std::uint64_t seed) {
  if (spec.device.model == digital_model) return std::make_unique<DigitalMatrix<S>>(weights);
  if (spec.transfer.active) return std::make_unique<TikiTaka<S>>(spec, weights, id, seed);
  return std::make_unique<Crossbar<S>>(spec, weights, id, seed);
}

void validate_linear_map(const CrossbarSpec& spec) {
  if (spec.device.model != digital_model) spec.validate();
}

template std::unique_ptr<LinearMap<float>> make_linear_map(const CrossbarSpec&, const Matrix<float>&, std::uint32_t,
                                                           std::uint64_t);
template std::unique_ptr<LinearMap<double>> make_linear_map(const CrossbarSpec&, const Matrix<double>&, std::uint32_t,
                                                            std::uint64_t);

}  // namespace nudge
