// SPDX-License-Identifier: Apache-2.0
#include "training/learning/growth_penalty.hpp"

#include <cmath>

namespace nudge {

/// y_ = (1 + ε J) v_, both shifted states in one evaluation.
template <class S>
void GrowthPenalty<S>::grow(Dynamics<S>& dynamics, ConstMatrixRef<S> z, S eta, S step) {
  const Index rows = z.rows();
  shifted_.resize(2 * rows, z.cols());
  forces_.resize(2 * rows, z.cols());
  shifted_.topRows(rows) = z + eta * v_;
  shifted_.bottomRows(rows) = z - eta * v_;
  dynamics.force(shifted_, forces_);
  y_ = v_ + (step / (S(2) * eta)) * (forces_.topRows(rows) - forces_.bottomRows(rows));
}

template <class S>
GrowthReport GrowthPenalty<S>::apply(Dynamics<S>& dynamics, ConstMatrixRef<S> z, double step, Index sequences,
                                     GradientSink<S>& sink) {
  GrowthReport report;
  v_.resize(z.rows(), z.cols());
  dynamics.begin_reads(ReadClass::monitor);
  dynamics.force(z, v_);
  if (dynamics.noisy()) {
    y_.resize(z.rows(), z.cols());
    dynamics.force(z, y_);
    const S noise = (v_ - y_).squaredNorm() / S(4);  // of the mean of both: E‖n₁ − n₂‖²/4
    v_ = S(0.5) * (v_ + y_);
    report.drowned = v_.squaredNorm() < S(2) * noise;  // signal² = ‖mean‖² − noise² below noise²
    if (report.drowned) return report;
  }
  const S residual = v_.norm();
  const S eta = static_cast<S>(options_.probe) * z.norm();
  if (!std::isfinite(residual) || residual == S(0) || !(eta > S(0))) return report;
  v_ /= residual;
  for (int k = 0; k < options_.iterations; ++k) {
    grow(dynamics, z, eta, static_cast<S>(step));
    v_ = y_ / y_.norm();
  }
  grow(dynamics, z, eta, static_cast<S>(step));
  const S growth = y_.norm();
  report.growth = static_cast<double>(growth);
  report.active = report.growth > options_.threshold;
  if (!report.active || !std::isfinite(growth)) return report;
  y_ /= growth;
  const S l =
      static_cast<S>(options_.strength * step / (2.0 * static_cast<double>(eta) * static_cast<double>(sequences)));
  const Index rows = z.rows();
  dynamics.linearize(shifted_.topRows(rows)).accumulate_parameter_gradient(y_, l, sink);
  dynamics.linearize(shifted_.bottomRows(rows)).accumulate_parameter_gradient(y_, -l, sink);
  return report;
}

template class GrowthPenalty<float>;
template class GrowthPenalty<double>;

}  // namespace nudge
