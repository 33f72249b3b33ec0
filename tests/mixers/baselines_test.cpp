// SPDX-License-Identifier: Apache-2.0
// The baselines against their definitions, written again token by token in plain loops.
#include <cmath>
#include <functional>
#include <map>

#include "mixers/attention/heads.hpp"
#include "mixers/baselines/mamba2.hpp"
#include "mixers/mixer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"

using namespace nudge;
using test::random_matrix;
using M = Eigen::MatrixXd;
using V = Eigen::VectorXd;

namespace {

constexpr Index kTokens = 7, kWidth = 8, kHeads = 2;

struct Setting {
  MixerOptions options;
  MixerSpec spec;
  M x;
  std::map<std::string, M> w;
};

Setting setting(const std::string& kind, const std::function<void(MixerOptions&)>& change = {}) {
  Setting s;
  s.options.width = kWidth;
  s.options.heads = kHeads;
  s.options.of<AttentionOptions>().head_width = kWidth / kHeads;
  if (change) change(s.options);
  s.spec = mixer_kind<double>(kind).spec(s.options);
  s.x = random_matrix<double>(kTokens, kWidth, 99);
  std::uint64_t seed = 1;
  for (const Field& f : s.spec.parameters) {
    s.w[f.name] = M(random_matrix<double>(f.rows(), f.cols(), seed++, f.mean != 0 ? 0.2 : 0.5)).array() + f.mean;
  }
  return s;
}

M computed(const std::string& kind, const Setting& s) {
  Tape<double> tape;
  MixerCall<double> call{s.options, {}, {}, Mask::causal(kTokens)};
  call.inputs.add("z", tape.input(s.x));
  for (const Field& f : s.spec.parameters) call.parameters.add(f.name, tape.input(s.w.at(f.name)));
  mixer_kind<double>(kind).forward(call);
  return call.outputs.front().matrix();
}

double logistic(double a) { return 1 / (1 + std::exp(-a)); }
double silu(double a) { return a * logistic(a); }
double softplus(double a) { return std::log(1 + std::exp(a)); }

/// silu of a causal convolution of x W, entry by entry.
M convolved(const Setting& s, const char* weights, const char* filter) {
  const M in = s.x * s.w.at(weights), taps = s.w.at(filter);
  M out = M::Zero(in.rows(), in.cols());
  for (Index t = 0; t < in.rows(); ++t) {
    for (Index c = 0; c < in.cols(); ++c) {
      double sum = 0;
      for (Index j = 0; j < taps.rows() && j <= t; ++j) sum += taps(j, c) * in(t - j, c);
      out(t, c) = silu(sum);
    }
  }
  return out;
}

/// Each block of columns over its root mean square (the library's ε = 1e-6 beside a mean square).
M rms(const M& x, Index groups) {
  M out = x;
  const Index m = x.cols() / groups;
  for (Index t = 0; t < x.rows(); ++t) {
    for (Index g = 0; g < groups; ++g) {
      const double square = x.block(t, g * m, 1, m).squaredNorm() / static_cast<double>(m);
      out.block(t, g * m, 1, m) /= std::sqrt(square + 1e-6);
    }
  }
  return out;
}

M scaled(const M& x, const M& row) { return (x.array().rowwise() * row.row(0).array()).matrix(); }

/// Rounding of some hundred products of order one.
constexpr double kRounding = 1e-12;

}  // namespace

TEST_CASE("deltanet and gated_deltanet: S_t = a S (1 - b k k') + b v k', read by q") {
  for (const bool gated : {false, true}) {
    const std::string kind = gated ? "gated_deltanet" : "deltanet";
    const Setting s = setting(kind, [&](MixerOptions& o) { o.of<AttentionOptions>().head_width = gated ? 2 : 4; });
    const Index m = s.options.of<AttentionOptions>().head_width, n = kWidth / kHeads;
    const double root = std::sqrt(static_cast<double>(m));
    const M q = rms(convolved(s, "Wq", "cq"), kHeads) / root, k = rms(convolved(s, "Wk", "ck"), kHeads) / root;
    const M v = convolved(s, "Wv", "cv"), b = s.x * s.w.at("Wb");
    M o(kTokens, kWidth);
    for (Index h = 0; h < kHeads; ++h) {
      M state = M::Zero(n, m);
      for (Index t = 0; t < kTokens; ++t) {
        const V kt = k.row(t).segment(h * m, m).transpose(), vt = v.row(t).segment(h * n, n).transpose();
        const double beta = logistic(b(t, h));
        double decay = 1;
        if (gated) {
          const double step = softplus((s.x.row(t) * s.w.at("Wa"))(0, h) + s.w.at("dt")(0, h));
          decay = std::exp(-std::exp(s.w.at("A")(0, h)) * step);
        }
        state = decay * state * (M::Identity(m, m) - beta * kt * kt.transpose()) + beta * vt * kt.transpose();
        o.row(t).segment(h * n, n) = (state * q.row(t).segment(h * m, m).transpose()).transpose();
      }
    }
    M u = scaled(rms(o, kHeads), s.w.at("n"));
    if (gated) u.array() *= M(s.x * s.w.at("W_g")).unaryExpr(&silu).array();
    CHECK(test::relative_error(computed(kind, s), u * s.w.at("Wo")) < kRounding);
  }
}

TEST_CASE("mamba2: the recurrence of its states") {
  const Setting s = setting("mamba2", [](MixerOptions& o) { o.of<MambaOptions>().states = 3; });
  const Index m = kWidth / kHeads;
  const M x = convolved(s, "Wx", "cx"), b = convolved(s, "WB", "cB"), c = convolved(s, "WC", "cC");
  M y(kTokens, kWidth);
  for (Index h = 0; h < kHeads; ++h) {
    M state = M::Zero(3, m);
    for (Index t = 0; t < kTokens; ++t) {
      const double step = softplus((s.x.row(t) * s.w.at("Wdt"))(0, h) + s.w.at("dt")(0, h));
      const M xt = x.row(t).segment(h * m, m);
      state = std::exp(-step * std::exp(s.w.at("A")(0, h))) * state + step * b.row(t).transpose() * xt;
      y.row(t).segment(h * m, m) = c.row(t) * state + s.w.at("D")(0, h) * xt;
    }
  }
  const M gated = (y.array() * M(s.x * s.w.at("Wz")).unaryExpr(&silu).array()).matrix();
  CHECK(test::relative_error(computed("mamba2", s), scaled(rms(gated, 1), s.w.at("n")) * s.w.at("Wo")) < kRounding);
}

TEST_CASE("hyena: the sum over lags with the filter of its network") {
  const Setting s = setting("hyena");
  const M in = s.x * s.w.at("Win"), taps = s.w.at("c");
  const auto conv = [&](Index t, Index c) {
    double sum = 0;
    for (Index j = 0; j < 3 && j <= t; ++j) sum += taps(j, c) * in(t - j, c);
    return sum;
  };
  const double pi = std::acos(-1.0);
  M filter(kTokens, kWidth), inner(kTokens, kWidth), out(kTokens, kWidth);
  for (Index t = 0; t < kTokens; ++t) {
    const double at = static_cast<double>(t) / kTokens;
    V z(9);
    z(0) = at;
    for (int f = 1; f <= 4; ++f) {
      z(2 * f - 1) = std::cos(2 * pi * f * at);
      z(2 * f) = std::sin(2 * pi * f * at);
    }
    const auto sine = [](double a) { return std::sin(a); };
    const M h1 = M(z.transpose() * s.w.at("F1") + s.w.at("f1")).unaryExpr(sine);
    const M h2 = M(h1 * s.w.at("F2") + s.w.at("f2")).unaryExpr(sine);
    const M h3 = h2 * s.w.at("F3");
    for (Index c = 0; c < kWidth; ++c) {
      const double slow = std::log(100.0) / 1.5, fast = std::log(100.0) / 0.3;
      filter(t, c) = h3(0, c) * std::exp(-(slow + (fast - slow) * static_cast<double>(c) / (kWidth - 1)) * at);
      inner(t, c) = conv(t, kWidth + c) * conv(t, 2 * kWidth + c);
    }
  }
  for (Index t = 0; t < kTokens; ++t) {
    for (Index c = 0; c < kWidth; ++c) {
      double sum = s.w.at("D")(0, c) * inner(t, c);
      for (Index i = 0; i <= t; ++i) sum += filter(t - i, c) * inner(i, c);
      out(t, c) = conv(t, c) * sum;
    }
  }
  CHECK(test::relative_error(computed("hyena", s), out * s.w.at("Wout")) < kRounding);
}

TEST_CASE("differential attention: two softmax maps apart by lambda") {
  const Setting s = setting("differential");
  const Index m = kWidth / (2 * kHeads);
  const M q = s.x * s.w.at("Wq"), k = s.x * s.w.at("Wk"), v = s.x * s.w.at("Wv");
  const double lambda = std::exp(s.w.at("lq1").cwiseProduct(s.w.at("lk1")).sum()) -
                        std::exp(s.w.at("lq2").cwiseProduct(s.w.at("lk2")).sum()) + 0.2;
  M o = M::Zero(kTokens, kWidth);
  for (Index h = 0; h < kHeads; ++h) {
    for (Index t = 0; t < kTokens; ++t) {
      for (const Index half : {0, 1}) {
        const Index at = (2 * h + half) * m;
        V e(t + 1);
        for (Index i = 0; i <= t; ++i) {
          e(i) = std::exp(q.row(t).segment(at, m).dot(k.row(i).segment(at, m)) / std::sqrt(static_cast<double>(m)));
        }
        const double sign = half == 0 ? 1 : -lambda;
        for (Index i = 0; i <= t; ++i) {
          o.row(t).segment(2 * h * m, 2 * m) += sign * e(i) / e.sum() * v.row(i).segment(2 * h * m, 2 * m);
        }
      }
    }
  }
  const M u = scaled(0.8 * rms(o, kHeads), s.w.at("n"));
  CHECK(test::relative_error(computed("differential", s), u * s.w.at("Wo")) < kRounding);
}
