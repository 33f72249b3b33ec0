// SPDX-License-Identifier: Apache-2.0
// The O(T) priors on 1e5 tokens, in float and double, against their definition.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "mixers/fem/free_energy_mixer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

using namespace nudge;
using test::random_matrix;

namespace {

constexpr Index kTokens = 100000;
constexpr Index kWidth = 2;  ///< channels, and groups or heads of one channel each
using M = Matrix<double>;

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// Numbers that float holds exactly, so that both precisions read the same sequence.
M numbers(Index rows, Index cols, std::uint64_t seed, double deviation = 1) {
  return random_matrix<float>(rows, cols, seed, deviation).template cast<double>();
}

double log_add(double x, double y) { return std::max(x, y) + std::log1p(std::exp(-std::abs(x - y))); }

struct Data {
  double strength;  ///< of a token's decay
  M q = numbers(kTokens, 2 * kWidth, 1), k = numbers(kTokens, 2 * kWidth, 2), v = numbers(kTokens, kWidth, 3);
  M decay, dt, b, c;
  M state_a = numbers(kWidth, 2, 8), state_b = numbers(kWidth, 2, 9), state_c = numbers(kWidth, 2, 10);
  M direct = numbers(1, kWidth, 11), state_dt = numbers(1, kWidth, 12);
  M beta = M::Constant(1, kWidth, 2.0);
  explicit Data(double s) : strength(s) {
    const auto scaled = [s](const M& x) { return M((s * x.cwiseAbs()).cast<float>().cast<double>()); };
    decay = -scaled(numbers(kTokens, kWidth, 4));
    dt = scaled((numbers(kTokens, kWidth, 5).cwiseAbs().array() + 0.1).matrix());
    b = (numbers(kTokens, 2, 6).cwiseAbs().array() + 0.125).matrix().cast<float>().cast<double>();
    c = (numbers(kTokens, 2, 7).cwiseAbs().array() + 0.125).matrix().cast<float>().cast<double>();
    state_a.array() += std::log(s);
    state_dt.setConstant(0.5);
    state_a = state_a.cast<float>().cast<double>();
  }
};

/// Calls f(piece) with the rows of a matrix on a tape.
template <class S>
auto rows_of(Tape<S>& tape, Index begin, Index count) {
  return [&tape, begin, count](const M& m) { return tape.constant(m.middleRows(begin, count).template cast<S>()); };
}
template <class S>
auto all_of(Tape<S>& tape) {
  return [&tape](const M& m) { return tape.constant(m.template cast<S>()); };
}

template <class S>
Branches<S> run(const std::string& name, const Data& d, Tape<S>& tape, Index begin, Index count, Streams<S>* streams) {
  const auto piece = rows_of(tape, begin, count);
  const auto whole = all_of(tape);
  const auto v = piece(d.v);
  const auto beta = whole(d.beta);
  if (name == "gla") return gla_prior<S>(piece(d.q), piece(d.k), piece(d.decay), v, beta, kWidth, 1e-3, streams);
  if (name == "aft") return aft_prior<S>(piece(M(d.k.leftCols(kWidth))), v, beta, streams);
  if (name == "lrnn") return lrnn_prior<S>(piece(d.decay), v, beta, streams);
  if (name == "ssmlti") {
    return ssm_invariant_prior<S>(
        {whole(d.state_a), whole(d.state_b), whole(d.state_c), whole(d.direct), whole(d.state_dt)}, v, beta, streams);
  }
  return ssm_selective_prior<S>({piece(d.dt), piece(d.b), piece(d.c), whole(d.state_a), whole(d.direct)}, v, beta,
                                streams);
}

/// log s_t(i) of a channel, for i = t, t − 1, ... in turn.
class LogScore {
 public:
  LogScore(const std::string& name, const Data& d, Index t, Index c) : name_(name), d_(d), t_(t), c_(c) {}
  double operator()(Index i) {
    if (i < t_) {
      sum_ += name_ == "ssmsel" ? d_.dt(i + 1, c_) : name_ == "ssmlti" ? 1.0 : d_.decay(i + 1, c_);
    }
    if (name_ == "aft") return d_.k(i, c_);
    if (name_ == "lrnn") return sum_;
    if (name_ == "gla") {
      double s = 0;
      for (Index m = 2 * c_; m < 2 * c_ + 2; ++m) {
        s += (std::max(d_.q(t_, m), 0.0) + 1e-3) * (std::max(d_.k(i, m), 0.0) + 1e-3);
      }
      return std::log(s) + sum_;
    }
    double log_sum = -std::numeric_limits<double>::infinity();
    const bool invariant = name_ == "ssmlti";
    for (Index n = 0; n < 2 && !(invariant && i == t_); ++n) {
      const double a = softplus(d_.state_a(c_, n));
      const double dt = softplus(d_.state_dt(0, c_));
      const double part =
          invariant ? std::log(softplus(d_.state_c(c_, n)) * softplus(d_.state_b(c_, n)) * dt) - a * dt * (sum_ - 1)
                    : std::log(d_.c(t_, n) * d_.dt(i, c_) * d_.b(i, n)) - a * sum_;
      log_sum = log_add(log_sum, part);
    }
    return i == t_ ? log_add(log_sum, std::log(softplus(d_.direct(0, c_)))) : log_sum;
  }

 private:
  std::string name_;
  const Data& d_;
  Index t_, c_;
  double sum_ = 0;
};

/// [μ, F] of row t and channel c from the definition.
std::pair<double, double> by_definition(const std::string& name, const Data& d, Index t, Index c) {
  LogScore score(name, d, t, c);
  const double beta = d.beta(0, c);
  double top = -std::numeric_limits<double>::infinity(), tilted_top = top;
  double mass = 0, moment = 0, tilted = 0;
  for (Index i = t; i >= 0; --i) {
    const double log_s = score(i), log_e = log_s + beta * d.v(i, c);
    if (log_s > top) {
      mass *= std::exp(top - log_s);
      moment *= std::exp(top - log_s);
      top = log_s;
    }
    if (log_e > tilted_top) {
      tilted *= std::exp(tilted_top - log_e);
      tilted_top = log_e;
    }
    mass += std::exp(log_s - top);
    moment += std::exp(log_s - top) * d.v(i, c);
    tilted += std::exp(log_e - tilted_top);
  }
  return {moment / mass, (tilted_top + std::log(tilted) - top - std::log(mass)) / beta};
}

}  // namespace

TEMPLATE_TEST_CASE("every O(T) prior on 1e5 tokens, in pieces, is its definition", "[long]", float, double) {
  using S = TestType;
  // Strengths: memories of 10³ tokens; cumulative decays of 10⁵ and 10⁷, where e^x is 0 in both precisions from 745 on. The
  // logarithms are of order ten, sums of 10⁵ terms; 1000 ε is some hundred roundings of them (a recurrence that loses what
  // its own rounding drops is 10⁴ ε off). Between splits only products over other numbers of rows differ: 100 ε.
  const double epsilon = static_cast<double>(std::numeric_limits<S>::epsilon());
  for (const double strength : {1e-3, 1.0, 100.0}) {
    const Data d(strength);
    for (const std::string name : {"gla", "aft", "lrnn", "ssmlti", "ssmsel"}) {
      if (name == "aft" && strength != 1.0) continue;  // it has no decay
      CAPTURE(name, strength);
      Tape<S> tape;
      const Branches<S> whole = run<S>(name, d, tape, 0, kTokens, nullptr);
      Streams<S> streams;
      Index at = 0;
      for (const Index count : {1, 999, 63, 64, 40000, 58873}) {
        Tape<S> part;
        const Branches<S> y = run<S>(name, d, part, at, count, &streams);
        const auto apart = [&](Value<S> a, Value<S> b) {
          return static_cast<double>((a.matrix() - b.matrix().middleRows(at, count)).cwiseAbs().maxCoeff());
        };
        CHECK(apart(y.mean, whole.mean) < 100 * epsilon);
        CHECK(apart(y.free_energy, whole.free_energy) < 100 * epsilon);
        at += count;
      }
      REQUIRE(at == kTokens);
      for (const Index t : {0, 1, 62, 64, 1000, 30000, 99999}) {
        for (Index c = 0; c < kWidth; ++c) {
          const auto expected = by_definition(name, d, t, c);
          CHECK(std::abs(static_cast<double>(whole.mean.matrix()(t, c)) - expected.first) < 1000 * epsilon);
          CHECK(std::abs(static_cast<double>(whole.free_energy.matrix()(t, c)) - expected.second) < 1000 * epsilon);
        }
      }
    }
  }
}
