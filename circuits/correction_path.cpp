// SPDX-License-Identifier: Apache-2.0
#include "circuits/correction_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "sim/base/errors.hpp"
#include "sim/base/rng.hpp"

namespace nudge {

void CorrectionSpec::validate() const {
  converter.validate("correction.converter");
  const auto not_negative = [](const char* key, double value) {
    if (value >= 0 && std::isfinite(value)) return;
    throw UserError(fmt::format("correction.{} = {:g} (must be a finite number >= 0)", key, value));
  };
  not_negative("gain_spread", gain_spread);
  not_negative("offset", offset);
  not_negative("noise", noise);
  not_negative("delay", delay);
  if (!(gain_error > -1 && std::isfinite(gain_error))) {
    throw UserError(
        fmt::format("correction.gain_error = {:g} (must be a finite number > -1: at -1 nothing passes)", gain_error));
  }
}

/// The cached point of the decorated dynamics, read through the path.
template <class S>
class CorrectionPath<S>::Point final : public Linearization<S> {
 public:
  Point(CorrectionPath& owner, Index max_rows)
      : owner_(&owner), v_(max_rows, owner.cols()), p_(max_rows, owner.cols()) {}

  void set(Linearization<S>& at, ConstMatrixRef<S> z) {
    at_ = &at;
    z0_ = z;
  }

  void force(MatrixRef<S> f, Part part) override { at_->force(f, part); }

  void jvp(ConstMatrixRef<S> v, MatrixRef<S> out, Part part) override { linear(Way::forward, v, out, part); }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> out, Part part) override { linear(Way::backward, u, out, part); }

  const Matrix<S>* moving() const override { return at_->moving(); }

  void accumulate_parameter_gradient(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink) override {
    at_->accumulate_parameter_gradient(u, scale, sink);
  }

  bool corrected_force(ConstMatrixRef<S> z, MatrixRef<S> f) override {
    displacement(z);
    const auto v = v_.topRows(z.rows());
    owner_->ideal_->nearby_force(z, f, Part::all);
    auto p = p_.topRows(z.rows());
    at_->jvp(v, p, Part::nonconservative);
    owner_->pass(Way::forward, p);
    f -= p;
    at_->vjp(v, p, Part::nonconservative);
    owner_->pass(Way::backward, p);
    f += p;
    return true;
  }

  bool transposed_force(ConstMatrixRef<S> z, MatrixRef<S> f) override {
    displacement(z);
    const auto v = v_.topRows(z.rows());
    owner_->ideal_->nearby_force(z, f, Part::conservative);
    auto p = p_.topRows(z.rows());
    at_->vjp(v, p, Part::nonconservative);
    owner_->pass(Way::backward, p);
    f += p;
    return true;
  }

 private:
  /// The conservative terms need no correction and stay as they are.
  void linear(Way way, ConstMatrixRef<S> v, MatrixRef<S> out, Part part) {
    const auto product = [&](MatrixRef<S> y, Part which) {
      if (way == Way::forward) {
        at_->jvp(v, y, which);
      } else {
        at_->vjp(v, y, which);
      }
    };
    if (part == Part::conservative) return product(out, part);
    product(out, Part::nonconservative);
    owner_->pass(way, out);
    if (part == Part::nonconservative) return;
    auto p = p_.topRows(v.rows());
    product(p, Part::conservative);
    out += p;
  }

  /// Fills the first rows of v_ with z − z₀, as the path sees it.
  void displacement(ConstMatrixRef<S> z) {
    auto v = v_.topRows(z.rows());
    for (Index row = 0; row < z.rows(); row += z0_.rows()) {
      v.middleRows(row, z0_.rows()) = z.middleRows(row, z0_.rows()) - z0_;
    }
    owner_->delay(v);
  }

  CorrectionPath* owner_;
  Linearization<S>* at_ = nullptr;
  Matrix<S> z0_, v_, p_;
};

template <class S>
CorrectionPath<S>::CorrectionPath(Dynamics<S>& ideal, const CorrectionSpec& spec, Index max_copies, std::uint64_t seed)
    : ideal_(&ideal), spec_(spec), draws_(max_copies * ideal.rows(), ideal.cols()) {
  spec_.validate();
  for (std::uint32_t way = 0; way < 2; ++way) {
    const auto spread = [&](std::uint32_t lane, double mean, double deviation) {
      Matrix<S> m(ideal.rows(), ideal.cols());
      fill_normal<S>({seed, Purpose::correction_path, way}, 0, lane, {m.data(), static_cast<std::size_t>(m.size())});
      m.array() = static_cast<S>(mean) + static_cast<S>(deviation) * m.array();
      return m;
    };
    gain_[way] = spread(0, 1 + spec_.gain_error, spec_.gain_spread);
    offset_[way] = spread(1, 0, spec_.offset);
  }
  point_ = std::make_unique<Point>(*this, draws_.rows());
  set_read_timing({});
}

template <class S>
CorrectionPath<S>::~CorrectionPath() = default;

template <class S>
Linearization<S>& CorrectionPath<S>::linearize(ConstMatrixRef<S> z) {
  point_->set(ideal_->linearize(z), z);
  steps_ = 0;
  return *point_;
}

template <class S>
void CorrectionPath<S>::begin_reads(ReadClass kind) {
  ideal_->begin_reads(kind);
  read_.kind = kind;
}

template <class S>
void CorrectionPath<S>::use_exact_derivatives(bool exact) {
  ideal_->use_exact_derivatives(exact);
  read_.exact = exact;
}

template <class S>
void CorrectionPath<S>::set_read_timing(ReadTiming timing) {
  ideal_->set_read_timing(timing);
  read_.relaxation = timing;
  const double steps = timing.duration > 0 ? spec_.delay / timing.duration : 0;  // what has no time has no delay
  const auto delay = static_cast<std::size_t>(std::lround(steps));
  history_.resize(delay > 0 ? delay + 1 : 0);
  for (Matrix<S>& v : history_) v.resize(draws_.rows(), draws_.cols());
}

/// v becomes what it was `delay` steps ago: zero before the nudge, which starts at the free equilibrium.
template <class S>
void CorrectionPath<S>::delay(MatrixRef<S> v) {
  if (history_.empty()) return;
  const std::size_t now = steps_++;
  history_[now % history_.size()].topRows(v.rows()) = v;
  Matrix<S>& past = history_[(now + 1) % history_.size()];
  if (now + 1 < history_.size()) past.setZero();
  v = past.topRows(v.rows());
}

template <class S>
void CorrectionPath<S>::pass(Way way, MatrixRef<S> p) {
  if (read_.exact) return;
  const auto index = static_cast<std::size_t>(way);
  const double sigma = spec_.noise * read_.noise_scale() / std::sqrt(std::max(read_.reads(), 1));
  if (spec_.noise > 0) {
    const std::uint64_t place = (static_cast<std::uint64_t>(read_.sequence) << 32) | read_.step;
    const std::uint32_t lane = 2 + read_.read++;  // lanes 0 and 1 of this purpose are static
    fill_normal<S>({read_.seed, Purpose::correction_path, 2 + static_cast<std::uint32_t>(way)}, place, lane,
                   {draws_.data(), static_cast<std::size_t>(p.size())});
    const double rms = std::sqrt(p.template cast<double>().squaredNorm() / static_cast<double>(p.size()));
    p += static_cast<S>(sigma * rms) * draws_.topRows(p.rows());
  }
  convert<S>(spec_.converter, p);
  const Index nodes = ideal_->rows();
  for (Index row = 0; row < p.rows(); row += nodes) {
    auto q = p.middleRows(row, nodes);
    q.array() = gain_[index].array() * q.array() + offset_[index].array();
  }
}

template class CorrectionPath<float>;
template class CorrectionPath<double>;

}  // namespace nudge
