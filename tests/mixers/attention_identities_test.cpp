// SPDX-License-Identifier: Apache-2.0
// What the attention family must satisfy exactly: its steps are those of the energies they are named after. Tolerances: both sides
// are the same sums of at most some hundred terms of order one, so 1e-12 is thousands of roundings; where a side solves a linear
// system, its condition (some tens here) multiplies that.
#include <Eigen/Core>
#include <cmath>

#include "mixers/attention/gradient_descent.hpp"
#include "mixers/attention/heads.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/ops/softmax.hpp"
#include "sim/base/decompositions.hpp"
#include "tests/mixers/evaluate_mixer.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/dense.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

using M = Matrix<double>;
using Square = Eigen::MatrixXd;

constexpr Index kTokens = 7;
constexpr double kExact = 1e-12;

M tokens(std::uint64_t seed = 1, Index count = kTokens) {
  return random_matrix<double>(count, MixerOptions().width, seed);
}
M head_rows(const M& w, Index h, const MixerOptions& o) {
  return w.middleRows(h * o.of<AttentionOptions>().head_width, o.of<AttentionOptions>().head_width);
}
/// Wo (H, d, dh) with W_h (d, dh) = scale · f(h).
template <class F>
M outputs(const MixerOptions& o, F f) {
  M wo(o.heads * o.width, o.of<AttentionOptions>().head_width);
  for (Index h = 0; h < o.heads; ++h) wo.middleRows(h * o.width, o.width) = f(h);
  return wo;
}

/// One step of a frozen-context energy, and its total, as leaves see them.
struct Step {
  Tape<double> tape;
  Value<double> z;
  EnergyStep<double> out;
  Step(PairEnergy kind, const M& start, const M& context, const M& w1, const M& w2, const MixerOptions& o,
       const Mask& mask) {
    z = tape.input(start);
    out = energy_step(kind, z, tape.constant(context), tape.constant(w1), tape.constant(w2), o, mask);
  }
  M gradient() {
    tape.add_cotangent(out.energy, M::Ones(z.rows(), 1));
    tape.pull_back();
    return tape.cotangent(z);
  }
};

/// p, k̄ and Cov of one query against the keys 0..t.
struct Moments {
  Eigen::VectorXd p, mean;
  Square covariance;
};
Moments elastic_moments(const M& q, const M& k, Index t, double temperature) {
  Moments m;
  m.p.resize(t + 1);
  for (Index i = 0; i <= t; ++i) m.p(i) = std::exp(-(q.row(t) - k.row(i)).squaredNorm() / (2 * temperature));
  m.p /= m.p.sum();
  m.mean = k.topRows(t + 1).transpose() * m.p;
  m.covariance = Square::Zero(k.cols(), k.cols());
  for (Index i = 0; i <= t; ++i) {
    const Eigen::VectorXd d = k.row(i).transpose() - m.mean;
    m.covariance += m.p(i) * d * d.transpose();
  }
  return m;
}

}  // namespace

TEST_CASE("multi-head attention with tied weights is gradient descent on the inner free energy") {
  // Wo_h = (η/H) W1_hᵀ, Wv = W2 (the paper prints a factor T more), with its energy at T = √dh.
  MixerOptions o;
  o.of<DescentOptions>().temperature = std::sqrt(static_cast<double>(o.of<AttentionOptions>().head_width));
  o.of<DescentOptions>().eta = 0.7;
  const Named w = random_parameters("gd_inner", o);
  const M wo = outputs(o, [&](Index h) {
    return M(o.of<DescentOptions>().eta / static_cast<double>(o.heads) * head_rows(w.at("W1"), h, o).transpose());
  });
  const Mask mask = Mask::causal(kTokens);
  const Named descent = evaluate("gd_inner", o, mask, {{"z", tokens()}}, w);
  const Named attention = evaluate("mha", o, mask, {{"z", tokens()}},
                                   {{"Wq", w.at("W1")}, {"Wk", w.at("W2")}, {"Wv", w.at("W2")}, {"Wo", wo}});
  CHECK(relative_error(attention.at("y"), descent.at("y")) < kExact);
  CHECK(relative_error(attention.at("observed/energy"), descent.at("observed/energy")) < kExact);
}

TEST_CASE("the inner energy falls by at least η|gradient|² for any η, the elastic one up to 2/L") {
  // Inner: −T log Σ exp is concave, so F(z − ηg) ≤ F(z) − η|g|² per token with the context frozen. Elastic: the Hessian is
  // at most mean_h W1ᵀW1, L its norm. Slack: rounding of energies of order one to 1e4.
  MixerOptions o;
  const Mask mask = Mask::full(kTokens, kTokens);
  const Named w = random_parameters("gd_inner", o);
  const M context = tokens(2);
  Square mean = Square::Zero(o.width, o.width);
  for (Index h = 0; h < o.heads; ++h) {
    const M w1 = head_rows(w.at("W1"), h, o);
    mean += Square(w1.transpose() * w1) / static_cast<double>(o.heads);
  }
  const double largest = symmetric_eigenvalues(mean).maxCoeff();
  for (const PairEnergy kind : {PairEnergy::inner, PairEnergy::elastic}) {
    for (const double eta : {0.01, 1.0, 100.0}) {
      o.of<DescentOptions>().eta = kind == PairEnergy::inner ? eta : std::min(eta, 2.0) / largest;
      Step first(kind, tokens(), context, w.at("W1"), w.at("W2"), o, mask);
      Step second(kind, first.out.z.matrix(), context, w.at("W1"), w.at("W2"), o, mask);
      const M gradient = first.gradient();
      for (Index t = 0; t < kTokens; ++t) {
        const double before = first.out.energy.matrix()(t, 0);
        const double least =
            kind == PairEnergy::inner ? o.of<DescentOptions>().eta * gradient.row(t).squaredNorm() : 0.0;
        const double after = second.out.energy.matrix()(t, 0);
        CHECK(after <= before - least + 1e-13 * (std::abs(before) + std::abs(after) + least));
      }
    }
  }
}

TEST_CASE("one elastic head with W1 = 1 and η = 1 is a mean shift") {
  MixerOptions o;
  o.heads = 1;
  o.of<AttentionOptions>().head_width = o.width;
  o.of<DescentOptions>().eta = 1;
  const M w2 = random_matrix<double>(o.width, o.width, 3, 0.5);
  const Named step = evaluate("gd_elastic", o, Mask::causal(kTokens), {{"z", tokens()}},
                              {{"W1", M::Identity(o.width, o.width)}, {"W2", w2}});
  const M k = tokens() * w2.transpose();
  for (Index t = 0; t < kTokens; ++t) {
    const Moments m = elastic_moments(tokens(), k, t, o.of<DescentOptions>().temperature);
    CHECK((step.at("y").row(t).transpose() - m.mean).norm() < kExact);
  }
}

TEST_CASE("linear attention is gradient descent on −½ Σ (q·k)², its gates at zero decay, its recurrence") {
  MixerOptions o;
  o.heads = 1;
  o.of<AttentionOptions>().head_width = o.width;
  o.of<DescentOptions>().eta = 0.3;
  const Mask mask = Mask::causal(kTokens);
  Named w = random_parameters("linattn", o);
  // Theorem 2: W_V = ηT Wqᵀ Wk, T = 1; frozen context.
  w["Wv"] = o.of<DescentOptions>().eta * w["Wq"].transpose() * w["Wk"];
  Tape<double> tape;
  const auto z = tape.input(tokens());
  const auto context = tape.constant(tokens());
  const auto pairs =
      masked(product_nt(product_nt(z, tape.constant(w["Wq"])), product_nt(context, tape.constant(w["Wk"]))), mask);
  const auto energy = affine(total(pairs * pairs), -0.5);
  tape.add_cotangent(energy, M::Ones(1, 1));
  tape.pull_back();
  const Named y = evaluate("linattn", o, mask, {{"z", tokens()}}, w);
  CHECK(relative_error(M(y.at("y") - tokens()), M(-o.of<DescentOptions>().eta * tape.cotangent(z))) < kExact);
  CHECK(y.at("observed/energy").sum() == Approx(energy.matrix()(0, 0)).epsilon(kExact));
  // softplus(−800) = 0 in double: no decay.
  const Named open = evaluate("glinattn", o, mask, {{"z", tokens()}, {"g_raw", M::Constant(kTokens, 1, -800)}}, w);
  CHECK(relative_error(open.at("y"), y.at("y")) < kExact);
  // Recurrence S ← e^g S + v kᵀ, y = z + S q.
  const M g_raw = random_matrix<double>(kTokens, 1, 5, 2.0);
  const Named gated = evaluate("glinattn", o, mask, {{"z", tokens()}, {"g_raw", g_raw}}, w);
  const M q = tokens() * w["Wq"].transpose(), k = tokens() * w["Wk"].transpose(), v = tokens() * w["Wv"].transpose();
  Square s = Square::Zero(o.width, o.width);
  for (Index t = 0; t < kTokens; ++t) {
    s = s / (1 + std::exp(g_raw(t, 0))) + v.row(t).transpose() * k.row(t);  // e^{−softplus(x)} = 1/(1 + eˣ)
    const Eigen::VectorXd expected = tokens().row(t).transpose() + s * q.row(t).transpose();
    CHECK((gated.at("y").row(t).transpose() - expected).norm() < kExact * expected.norm());
  }
}

TEST_CASE("momentum: none is attention, two steps are a heavy ball, both look-aheads agree at η = 1") {
  MixerOptions o;
  const Mask mask = Mask::causal(kTokens);
  Named w = random_parameters("momen", o);
  const M z = tokens(), p = tokens(2);
  const auto number = [](double x) { return M::Constant(1, 1, x); };
  const auto update = [&](const M& at) { return M(evaluate("mha", o, mask, {{"z", at}}, w).at("observed/update")); };
  w["beta"] = number(0);
  w["eta"] = number(1);
  for (const char* kind : {"momen", "nag", "nag_sutskever"}) {
    CHECK(relative_error(evaluate(kind, o, mask, {{"z", z}, {"p", p}}, w).at("z"), M(z + update(z))) < kExact);
  }
  w["beta"] = number(0.6);
  w["eta"] = number(0.8);
  const Named one = evaluate("momen", o, mask, {{"z", z}, {"p", p}}, w);
  const Named two = evaluate("momen", o, mask, {{"z", one.at("z")}, {"p", one.at("p")}}, w);
  const M expected = 0.6 * (one.at("z") - z) + 0.8 * update(one.at("z"));
  CHECK(relative_error(M(two.at("z") - one.at("z")), expected) < kExact);
  const Named paper = evaluate("nag", o, mask, {{"z", z}, {"p", p}}, w);
  const Named sutskever = evaluate("nag_sutskever", o, mask, {{"z", z}, {"p", p}}, w);
  CHECK(relative_error(paper.at("z"), sutskever.at("z")) > 1e-3);
  w["eta"] = number(1);
  CHECK(relative_error(evaluate("nag", o, mask, {{"z", z}, {"p", p}}, w).at("z"),
                       evaluate("nag_sutskever", o, mask, {{"z", z}, {"p", p}}, w).at("z")) < kExact);
}

TEST_CASE("MHA2nd is the Newton step of every head's free energy, and of the whole for orthogonal heads") {
  MixerOptions o;
  o.of<DescentOptions>().temperature = 9;  // above the largest eigenvalue of Cov: C is definite and Newton descends
  o.of<DescentOptions>().eta = 0.7;
  const Mask mask = Mask::causal(kTokens);
  Named w = random_parameters("mha2nd", o);
  MixerOptions one = o;
  one.heads = 1;
  one.of<DescentOptions>().eta = 1;
  const auto newton = [&](const Named& weights) {
    M sum = M::Zero(kTokens, o.width);
    for (Index h = 0; h < o.heads; ++h) {
      Step head(PairEnergy::elastic, tokens(), tokens(), head_rows(weights.at("Wq"), h, o),
                head_rows(weights.at("Wk"), h, o), one, mask);
      const M gradient = head.gradient();
      // The step is z − ∇F, so its Jacobian is 1 − Hess: columns by pushing unit vectors forward, all tokens at once.
      std::vector<Square> hessian(kTokens, Square::Identity(o.width, o.width));
      for (Index c = 0; c < o.width; ++c) {
        M unit = M::Zero(kTokens, o.width);
        unit.col(c).setOnes();
        head.tape.clear_tangents();
        head.tape.set_tangent(head.z, unit);
        head.tape.push_forward();
        for (Index t = 0; t < kTokens; ++t) {
          hessian[static_cast<std::size_t>(t)].col(c) -= head.tape.tangent(head.out.z).row(t).transpose();
        }
      }
      for (Index t = 0; t < kTokens; ++t) {
        // Rank head_width: the other singular values are rounding.
        sum.row(t) +=
            least_norm_solution(hessian[static_cast<std::size_t>(t)], gradient.row(t).transpose(), 1e-10).transpose();
      }
    }
    return sum;
  };
  const Named y = evaluate("mha2nd", o, mask, {{"z", tokens()}}, w);
  const M step = y.at("y") - tokens();
  CHECK(relative_error(step, M(-o.of<DescentOptions>().eta / static_cast<double>(o.heads) * newton(w))) < 1e-11);
  // Orthonormal rows: the Hessian of F = (1/H) Σ F_h is block diagonal, so full Newton is H times the step per head.
  const Square basis = orthonormal_basis(random_matrix<double>(o.width, o.width, 7));
  w["Wq"] = basis;
  const M orthogonal = evaluate("mha2nd", o, mask, {{"z", tokens()}}, w).at("y") - tokens();
  MixerOptions all = o;
  all.of<DescentOptions>().eta = 1;
  Step whole(PairEnergy::elastic, tokens(), tokens(), w["Wq"], w["Wk"], all, mask);
  const M gradient = whole.gradient();
  for (Index t = 0; t < kTokens; ++t) {
    Square hessian = Square::Identity(o.width, o.width);
    for (Index c = 0; c < o.width; ++c) {
      M unit = M::Zero(kTokens, o.width);
      unit(t, c) = 1;
      whole.tape.clear_tangents();
      whole.tape.set_tangent(whole.z, unit);
      whole.tape.push_forward();
      hessian.col(c) -= whole.tape.tangent(whole.out.z).row(t).transpose();
    }
    const Eigen::VectorXd full = solution(hessian, gradient.row(t).transpose());
    const Eigen::VectorXd expected = -o.of<DescentOptions>().eta / static_cast<double>(o.heads) * full;
    CHECK((orthogonal.row(t).transpose() - expected).norm() < 1e-11 * expected.norm());
  }
}

TEST_CASE("identical tokens have no covariance: MHA2nd is M (q − k), the first-order kinds their zeroth order") {
  MixerOptions o;
  o.of<DescentOptions>().eta = 0.7;
  const Mask mask = Mask::full(kTokens, kTokens);
  const M z = tokens().row(0).replicate(kTokens, 1);
  const Named w = random_parameters("mha2nd", o);
  M expected = z;
  for (Index h = 0; h < o.heads; ++h) {
    const Square wq = head_rows(w.at("Wq"), h, o), wk = head_rows(w.at("Wk"), h, o);
    const Square m = wq.transpose() * inverse_of(wq * wq.transpose());
    expected -= o.of<DescentOptions>().eta / static_cast<double>(o.heads) * z * (m * (wq - wk)).transpose();
  }
  CHECK(relative_error(evaluate("mha2nd", o, mask, {{"z", z}}, w).at("y"), expected) < 1e-11);
  for (const auto& [kind, name] : {std::pair("mha2nd1st", "taub"), std::pair("light2nd1st", "tau")}) {
    Named some = random_parameters(kind, o);
    some[name].setConstant(3.0);
    Named none = some;
    none[name].setZero();
    CHECK(relative_error(evaluate(kind, o, mask, {{"z", z}}, some).at("y"),
                         evaluate(kind, o, mask, {{"z", z}}, none).at("y")) < kExact);
    // One token attends to itself alone: the same.
    CHECK(relative_error(evaluate(kind, o, Mask::causal(1), {{"z", tokens(1, 1)}}, some).at("y"),
                         evaluate(kind, o, Mask::causal(1), {{"z", tokens(1, 1)}}, none).at("y")) < kExact);
  }
}

TEST_CASE("MHA2nd1st is its form without values with Wo Wv M, and Newton to first order with 1/T") {
  MixerOptions o;
  const Mask mask = Mask::causal(kTokens);
  Named w = random_parameters("mha2nd1st", o);
  const auto projector = [&](Index h) {  // Wv_h M_h
    const Square wq = head_rows(w.at("Wq"), h, o);
    return M(head_rows(w.at("Wv"), h, o) * wq.transpose() * inverse_of(wq * wq.transpose()));
  };
  Named plain = w;
  plain["Wo"] = outputs(o, [&](Index h) { return M(w.at("Wo").middleRows(h * o.width, o.width) * projector(h)); });
  CHECK(relative_error(evaluate("mha2nd1st", o, mask, {{"z", tokens()}}, w).at("y"),
                       evaluate("mha2nd1st_nov", o, mask, {{"z", tokens()}}, plain).at("y")) < 1e-11);
  // taub = 1/T, Wv = Wq, Wo = −(η/H) M: z − (η/H) Σ M (1 + Cov/T) (q − k̄), by loops.
  const double temperature = 6;
  w["Tp"].setConstant(temperature);
  w["taub"].setConstant(1 / temperature);
  w["Wv"] = w["Wq"];
  M expected = tokens();
  M wo(o.heads * o.width, o.of<AttentionOptions>().head_width);
  for (Index h = 0; h < o.heads; ++h) {
    const Square wq = head_rows(w.at("Wq"), h, o);
    const Square m = wq.transpose() * inverse_of(wq * wq.transpose());
    wo.middleRows(h * o.width, o.width) = -o.of<DescentOptions>().eta / static_cast<double>(o.heads) * m;
    const M q = tokens() * wq.transpose(), k = tokens() * head_rows(w.at("Wk"), h, o).transpose();
    for (Index t = 0; t < kTokens; ++t) {
      const Moments at = elastic_moments(q, k, t, temperature);
      const Eigen::VectorXd r = q.row(t).transpose() - at.mean;
      expected.row(t) -= o.of<DescentOptions>().eta / static_cast<double>(o.heads) *
                         (m * (r + at.covariance * r / temperature)).transpose();
    }
  }
  w["Wo"] = wo;
  CHECK(relative_error(evaluate("mha2nd1st", o, mask, {{"z", tokens()}}, w).at("y"), expected) < 1e-11);
}

TEST_CASE("light attention without its correction is attention") {
  MixerOptions o;
  Named w = random_parameters("light2nd1st", o);
  const Mask mask = Mask::causal(kTokens);
  const M mha = evaluate("mha", o, mask, {{"z", tokens()}}, w).at("y");
  CHECK(relative_error(evaluate("light2nd1st", o, mask, {{"z", tokens()}}, w).at("y"), mha) > 1e-6);
  w["tau"].setZero();
  CHECK(relative_error(evaluate("light2nd1st", o, mask, {{"z", tokens()}}, w).at("y"), mha) < kExact);
}

TEST_CASE("without positions and mask, permuting the tokens permutes what every kind gives") {
  MixerOptions o;
  const Mask mask = Mask::full(kTokens, kTokens);
  Eigen::PermutationMatrix<Eigen::Dynamic> order(kTokens);
  order.indices() << 3, 0, 6, 1, 5, 2, 4;
  for (const auto& kind : mixer_kinds<double>()) {
    MixerOptions sizes = o;
    if (kind.name == "linattn" || kind.name == "glinattn") {
      sizes.heads = 1;
      sizes.of<AttentionOptions>().head_width = sizes.width;
    }
    const MixerSpec spec = kind.spec(sizes);
    if (spec.only_causal || !spec.attends) continue;
    CAPTURE(kind.name);
    const Named w = random_parameters(kind.name, sizes);
    Named in, permuted;
    for (const Field& field : spec.inputs) {
      in[field.name] = random_matrix<double>(kTokens, field.cols(), 1 + in.size());
      permuted[field.name] = order * in[field.name];
    }
    const std::string first = spec.outputs[0].name;
    CHECK(relative_error(evaluate(kind.name, sizes, mask, permuted, w).at(first),
                         M(order * evaluate(kind.name, sizes, mask, in, w).at(first))) < 1e-11);
  }
}

TEST_CASE("attention ignores a shift of all keys, springs one of queries and keys together") {
  MixerOptions o;
  M z = tokens();
  z.col(o.width - 1).setOnes();  // so that the last column of a weight is a bias
  const Mask mask = Mask::causal(kTokens);
  Named w = random_parameters("mha", o);
  const M before = evaluate("mha", o, mask, {{"z", z}}, w).at("y");
  w["Wk"].col(o.width - 1).array() += 0.8;
  CHECK(relative_error(evaluate("mha", o, mask, {{"z", z}}, w).at("y"), before) < kExact);
  Named springs = random_parameters("gd_elastic", o);
  const M energy = evaluate("gd_elastic", o, mask, {{"z", z}}, springs).at("observed/energy");
  for (const char* name : {"W1", "W2"}) springs[name].col(o.width - 1).array() += 0.8;
  CHECK(relative_error(evaluate("gd_elastic", o, mask, {{"z", z}}, springs).at("observed/energy"), energy) < kExact);
}

TEST_CASE("grouped-query attention is multi-head attention whose heads share keys and values") {
  MixerOptions o;
  o.heads = 4;
  o.rope = true;
  o.of<AttentionOptions>().key_value_heads = 2;
  const Mask mask = Mask::causal(kTokens);
  const Named w = random_parameters("mha", o);
  Named repeated = w;
  for (const char* name : {"Wk", "Wv"}) {
    M all(o.heads * o.of<AttentionOptions>().head_width, o.width);
    for (Index h = 0; h < o.heads; ++h)
      all.middleRows(h * o.of<AttentionOptions>().head_width, o.of<AttentionOptions>().head_width) =
          head_rows(w.at(name), h / 2, o);
    repeated[name] = all;
  }
  const Named grouped = evaluate("mha", o, mask, {{"z", tokens()}}, w);
  MixerOptions whole = o;
  whole.of<AttentionOptions>().key_value_heads = 0;
  const Named full = evaluate("mha", whole, mask, {{"z", tokens()}}, repeated);
  CHECK(relative_error(grouped.at("y"), full.at("y")) < kExact);
  CHECK(relative_error(grouped.at("observed/energy"), full.at("observed/energy")) < kExact);
  o.of<AttentionOptions>().key_value_heads = 3;
  CHECK_THROWS_WITH(random_parameters("mha", o), Catch::Contains("key_value_heads = 3"));
}
