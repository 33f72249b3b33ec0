// SPDX-License-Identifier: Apache-2.0
#include "mixers/bit_sampler.hpp"

#include <span>

#include "mixers/ops/operations.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

template <class S>
void compare(const Matrix<S>& u, const Matrix<S>& logits, std::vector<std::uint8_t>& bits) {
  bits.resize(static_cast<std::size_t>(logits.size()));
  for (Index n = 0; n < logits.size(); ++n) {
    const bool one = u.data()[n] < evaluate(Function::sigmoid, logits.data()[n]);
    bits[static_cast<std::size_t>(n)] = one ? 1 : 0;
  }
}

}  // namespace

template <class S>
void GivenUniforms<S>::draw(const Matrix<S>& logits, std::vector<std::uint8_t>& bits) {
  NUDGE_EXPECT(u_.rows() == logits.rows() && u_.cols() == logits.cols());
  compare(u_, logits, bits);
}

template <class S>
void PseudoRandomBits<S>::draw(const Matrix<S>& logits, std::vector<std::uint8_t>& bits) {
  Matrix<S> u(logits.rows(), logits.cols());
  fill_uniform<S>(RngKey{seed_, Purpose::latent_bits, 0}, step_, sequence_,
                  std::span<S>(u.data(), static_cast<std::size_t>(u.size())));
  compare(u, logits, bits);
}

NUDGE_BOTH_PRECISIONS_OF(GivenUniforms)
NUDGE_BOTH_PRECISIONS_OF(PseudoRandomBits)

}  // namespace nudge
