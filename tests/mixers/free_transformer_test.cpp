// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "mixers/free_transformer/model.hpp"
#include "mixers/free_transformer/synthetic.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/ops/softmax.hpp"
#include "sim/base/errors.hpp"
#include "tests/mixers/derivative_checks.hpp"

using namespace nudge;
using test::random_matrix;

namespace {

using M = Matrix<double>;
using X = std::vector<Value<double>>;

std::shared_ptr<BitSampler<double>> uniforms(Index tokens, Index bits) {
  return std::make_shared<GivenUniforms<double>>(M::Constant(tokens, bits, 0.5));
}

/// G from its definition.
M probabilities(const M& logits) {
  M g = M::Ones(logits.rows(), Index(1) << logits.cols());
  for (Index t = 0; t < g.rows(); ++t) {
    for (Index d = 0; d < g.cols(); ++d) {
      for (Index h = 0; h < logits.cols(); ++h) {
        const double one = 1 / (1 + std::exp(-logits(t, h)));
        g(t, d) *= (d >> h) % 2 == 1 ? one : 1 - one;
      }
    }
  }
  return g;
}

struct Small {
  FreeTransformerShape shape;
  std::vector<M> parameters;
  Small() {
    shape = {8, 2, 4, 12, 12, 7, 3};
    for (const Field& field : free_transformer_fields(shape)) {
      M m = random_matrix<double>(field.rows(), field.cols(), 50 + parameters.size(), 0.4);
      m.array() += field.mean;
      parameters.push_back(m);
    }
  }
  NamedValues<double> bind(Tape<double>& tape) const {
    NamedValues<double> named;
    const auto fields = free_transformer_fields(shape);
    for (std::size_t k = 0; k < fields.size(); ++k) named.add(fields[k].name, tape.parameter(parameters[k]));
    return named;
  }
};

}  // namespace

TEST_CASE("binary mapper: value is a drawn row, derivatives are those of G") {
  const M logits = random_matrix<double>(4, 3, 1, 2.0);
  Tape<double> tape;
  const auto l = tape.input(logits);
  const auto y = bit_mapper(l, uniforms(4, 3));
  for (Index t = 0; t < 4; ++t) {
    int index = 0;
    for (Index h = 0; h < 3; ++h) index += logits(t, h) > 0 ? 1 << h : 0;
    CHECK(y.matrix()(t, index) == 1);
    CHECK(y.matrix().row(t).sum() == 1);
  }
  // Central difference of the brute-force G: h² G'''/6 ~ 1e-11, rounding 1e-11.
  const M v = random_matrix<double>(4, 3, 2);
  const double h = 1e-5;
  tape.set_tangent(l, v);
  tape.push_forward();
  const M difference = (probabilities(logits + h * v) - probabilities(logits - h * v)) / (2 * h);
  CHECK((tape.tangent(y) - difference).norm() < 1e-9);
  const M w = random_matrix<double>(4, 8, 3);
  tape.add_cotangent(y, w);
  tape.pull_back();
  CHECK(test::dot(tape.cotangent(l), v) == Approx(test::dot(w, tape.tangent(y))).epsilon(1e-12));
  CHECK((probabilities(logits).rowwise().sum().array() - 1).abs().maxCoeff() < 1e-14);
}

TEST_CASE("binary mapper: at 20 bits the index goes there and back, and the derivatives are adjoint") {
  // 2^20 probabilities; sums of as many positive terms that add up to one: 1e-16 · √2^20, some.
  const Index bits = 20;
  const M logits = random_matrix<double>(2, bits, 4, 2.0);
  Tape<double> tape;
  const auto l = tape.input(logits);
  const auto y = bit_mapper(l, uniforms(2, bits));
  for (Index t = 0; t < 2; ++t) {
    Index at = 0;
    CHECK(y.matrix().row(t).maxCoeff(&at) == 1);
    for (Index h = 0; h < bits; ++h) CHECK(((at >> h) % 2 == 1) == (logits(t, h) > 0));
  }
  const M v = random_matrix<double>(2, bits, 5), w = random_matrix<double>(2, Index(1) << bits, 6);
  tape.set_tangent(l, v);
  tape.push_forward();
  CHECK(std::abs(tape.tangent(y).sum()) < 1e-12);  // Σ G = 1 has no slope
  tape.add_cotangent(y, w);
  tape.pull_back();
  CHECK(test::dot(tape.cotangent(l), v) == Approx(test::dot(w, tape.tangent(y))).epsilon(1e-10));
  CHECK_THROWS_WITH(bit_mapper(tape.input(M::Zero(1, 21)), uniforms(1, 21)), Catch::Contains("H = 21"));
}

TEST_CASE("drawn indices have the probabilities G") {
  // 40000 draws over 8 indices; 5 standard deviations each: false alarm 5e-6 in all.
  const Index n = 40000;
  const M row = random_matrix<double>(1, 3, 8, 1.5);
  const M g = probabilities(row);
  PseudoRandomBits<double> source(11, 0, 0);
  std::vector<std::uint8_t> bits;
  source.draw(row.replicate(n, 1), bits);
  std::vector<double> share(8, 0.0);
  for (const int index : bit_index(bits, 3)) share[static_cast<std::size_t>(index)] += 1.0 / static_cast<double>(n);
  for (Index d = 0; d < 8; ++d) {
    const double p = g(0, d);
    CHECK(std::abs(share[static_cast<std::size_t>(d)] - p) < 5 * std::sqrt(p * (1 - p) / static_cast<double>(n)));
  }
}

TEST_CASE("without a latent the free transformer is a plain decoder") {
  Small model;
  const auto fields = free_transformer_fields(model.shape);
  for (std::size_t k = 0; k < fields.size(); ++k) {
    if (fields[k].name == "post") model.parameters[k].setZero();
  }
  Tape<double> tape;
  const auto named = model.bind(tape);
  const FreeTransformer<double> transformer(model.shape, named);
  const std::vector<int> tokens = {1, 4, 0, 6, 2};
  const auto logits = transformer.upper_half(transformer.lower_half(tokens), transformer.latent({3, 0, 7, 1, 3}));
  auto x = gather_rows(named["emb"], tokens);
  for (const char* prefix : {"b0_", "b1_", "b2_", "b3_"}) x = block(x, x, named, prefix, {2, 2}, Mask::causal(5));
  const auto plain = product(rms_norm(x) * named["nf"], named["read"]);
  CHECK(test::relative_error(logits.matrix(), plain.matrix()) < 1e-13);
}

namespace {

/// Wk or Wv of G heads, each as often as heads of queries read it: by its columns.
M repeated(const M& shared, Index groups, Index heads) {
  const Index m = shared.cols() / groups;
  M all(shared.rows(), m * heads);
  for (Index h = 0; h < heads; ++h) all.middleCols(h * m, m) = shared.middleCols(h * groups / heads * m, m);
  return all;
}

/// Its adjoint: the sum over the heads that read it.
M summed(const M& all, Index groups, Index heads) {
  const Index m = all.cols() / heads;
  M shared = M::Zero(all.rows(), m * groups);
  for (Index h = 0; h < heads; ++h) shared.middleCols(h * groups / heads * m, m) += all.middleCols(h * m, m);
  return shared;
}

}  // namespace

TEST_CASE(
    "free transformer: grouped keys and values are those of every head, repeated, and a tied read is the table's") {
  // Both sides are the same sums in another order: 1e-13 is hundreds of roundings.
  FreeTransformerShape shape{16, 4, 2, 12, 12, 7, 3, 2, true};
  FreeTransformerShape whole = shape;
  whole.key_value_heads = 0;
  whole.tied = false;
  Tape<double> one, other;
  NamedValues<double> grouped, plain;
  std::uint64_t seed = 70;
  M table;
  for (const Field& field : free_transformer_fields(shape)) {
    const M w = random_matrix<double>(field.rows(), field.cols(), seed++, 0.4);
    const bool shared = field.name.ends_with("Wk") || field.name.ends_with("Wv");
    if (field.name == "emb") table = w;
    grouped.add(field.name, one.input(w));
    plain.add(field.name, other.input(shared ? repeated(w, 2, 4) : w));
  }
  plain.add("read", other.input(table.transpose() / 4.0));  // 1/√16
  const std::vector<int> tokens = {1, 4, 0, 6, 2};
  const auto logits = [&](const FreeTransformerShape& s, const NamedValues<double>& named) {
    const FreeTransformer<double> transformer(s, named);
    return transformer.upper_half(transformer.lower_half(tokens), transformer.latent({3, 0, 7, 1, 3}));
  };
  const auto y = logits(shape, grouped), full = logits(whole, plain);
  CHECK(test::relative_error(y.matrix(), full.matrix()) < 1e-13);
  const M u = random_matrix<double>(5, 7, 5);
  one.add_cotangent(y, u);
  one.pull_back();
  other.add_cotangent(full, u);
  other.pull_back();
  for (const char* name : {"b0_Wk", "b0_Wv", "b1_Wk", "b1_Wv"}) {
    CHECK(test::relative_error(one.cotangent(grouped[name]), summed(other.cotangent(plain[name]), 2, 4)) < 1e-12);
  }
  const M both = other.cotangent(plain["emb"]) + other.cotangent(plain["read"]).transpose() / 4.0;
  CHECK(test::relative_error(one.cotangent(grouped["emb"]), both) < 1e-12);
}

TEST_CASE("bit lookup is the mapper times its table") {
  const M logits = random_matrix<double>(4, 3, 1, 2.0);
  const M table = random_matrix<double>(8, 5, 2);
  Tape<double> tape;
  const auto l = tape.input(logits);
  const auto w = tape.input(table);
  const auto fused = bit_lookup(l, w, uniforms(4, 3));
  const auto l2 = tape.input(logits);
  const auto w2 = tape.input(table);
  const auto plain = product(bit_mapper(l2, uniforms(4, 3)), w2);
  CHECK((fused.matrix() - plain.matrix()).norm() == 0);
  const M dl = random_matrix<double>(4, 3, 3);
  const M dw = random_matrix<double>(8, 5, 4);
  for (const auto& leaf : {l, l2}) tape.set_tangent(leaf, dl);
  for (const auto& leaf : {w, w2}) tape.set_tangent(leaf, dw);
  tape.push_forward();
  CHECK(test::relative_error(tape.tangent(fused), tape.tangent(plain)) < 1e-13);
  const M u = random_matrix<double>(4, 5, 5);
  tape.add_cotangent(fused, u);
  tape.add_cotangent(plain, u);
  tape.pull_back();
  CHECK(test::relative_error(tape.cotangent(l), tape.cotangent(l2)) < 1e-13);
  CHECK(test::relative_error(tape.cotangent(w), tape.cotangent(w2)) < 1e-13);
}

TEST_CASE("pseudo-random bits have the probabilities of their logits") {
  // 20000 draws of 3 bits; 5 standard deviations: false alarm 6e-7 per bit.
  const Index n = 20000;
  M logits(n, 3);
  logits.rowwise() = Eigen::RowVector3d(-2.0, 0.0, 1.0);
  PseudoRandomBits<double> source(7, 1, 0);
  std::vector<std::uint8_t> bits;
  source.draw(logits, bits);
  for (Index h = 0; h < 3; ++h) {
    double ones = 0;
    for (Index t = 0; t < n; ++t) ones += bits[static_cast<std::size_t>(3 * t + h)];
    const double p = 1 / (1 + std::exp(-logits(0, h)));
    CHECK(std::abs(ones / n - p) < 5 * std::sqrt(p * (1 - p) / n));
  }
}

TEST_CASE("latent information is H log 2 minus the bits' entropies, and free bits cost nothing") {
  const M logits = random_matrix<double>(5, 4, 1, 2.0);
  Tape<double> tape;
  const auto l = tape.input(logits);
  const auto information = latent_information(l);
  for (Index t = 0; t < 5; ++t) {
    double kl = 0;
    for (Index h = 0; h < 4; ++h) {
      const double p = 1 / (1 + std::exp(-logits(t, h)));
      kl += p * std::log(2 * p) + (1 - p) * std::log(2 * (1 - p));
    }
    CHECK(information.matrix()(t, 0) == Approx(kl).epsilon(1e-13));
  }
  const auto penalty = free_bits(information, 1e3);
  CHECK(penalty.matrix()(0, 0) == 0);
  tape.add_cotangent(penalty, M::Ones(1, 1));
  tape.pull_back();
  CHECK(tape.cotangent(l).norm() == 0);
  CHECK_THROWS_AS(free_bits(information, -0.1), UserError);
}

TEST_CASE("free transformer: loss has the right derivatives with given latents") {
  const Small model;
  const std::vector<int> tokens = {1, 4, 0, 6, 2};
  test::check_derivatives({model.parameters, [&](const X& x) {
                             NamedValues<double> named;
                             const auto fields = free_transformer_fields(model.shape);
                             for (std::size_t k = 0; k < fields.size(); ++k) named.add(fields[k].name, x[k]);
                             const FreeTransformer<double> transformer(model.shape, named);
                             const auto lower = transformer.lower_half(tokens);
                             const auto r = transformer.latent({3, 0, 7, 1, 3});
                             const auto ce = cross_entropy(transformer.upper_half(lower, r), {4, 0, -1, 2, 5});
                             const auto kl = free_bits(latent_information(transformer.encode(lower)), 0.01);
                             return X{ce, kl};
                           }});
}

TEST_CASE("free transformer: causal in tokens and in latents, the encoder sees all") {
  const Small model;
  Tape<double> tape;
  const auto named = model.bind(tape);
  const FreeTransformer<double> transformer(model.shape, named);
  const auto logits = [&](const std::vector<int>& tokens, const std::vector<int>& latents) {
    return M(transformer.upper_half(transformer.lower_half(tokens), transformer.latent(latents)).matrix());
  };
  const M base = logits({1, 4, 0, 6, 2}, {3, 0, 7, 1, 3});
  const M token = logits({1, 4, 0, 5, 2}, {3, 0, 7, 1, 3});
  const M latent = logits({1, 4, 0, 6, 2}, {3, 0, 7, 2, 3});
  for (const M& changed : {token, latent}) {
    CHECK((changed - base).topRows(3).norm() < 1e-14 * base.norm());
    CHECK((changed - base).bottomRows(2).norm() > 1e-3);
  }
  const M seen = transformer.encode(transformer.lower_half({1, 4, 0, 6, 2})).matrix();
  const M other = transformer.encode(transformer.lower_half({1, 4, 0, 6, 3})).matrix();
  CHECK((seen - other).row(0).norm() > 1e-6);
  // Constant queries: rotary positions alone make its rows differ.
  CHECK((seen.row(0) - seen.row(3)).norm() > 1e-3);
}

TEST_CASE("a decoder that keeps keys and values gives the rows of the whole sequence, for any split") {
  const Small model;
  const std::vector<int> tokens = {1, 4, 0, 6, 2, 5, 3}, latents = {3, 0, 7, 1, 3, 2, 6};
  Tape<double> tape;
  const auto named = model.bind(tape);
  const FreeTransformer<double> transformer(model.shape, named);
  const M whole = transformer.upper_half(transformer.lower_half(tokens), transformer.latent(latents)).matrix();
  for (const std::vector<int>& split : {std::vector<int>{1, 1, 1, 1, 1, 1, 1}, {3, 1, 1, 2}, {2, 5}, {7}}) {
    DecoderCache<double> cache;
    auto at = tokens.begin();
    auto latent = latents.begin();
    Index row = 0;
    for (const int n : split) {
      const auto lower = transformer.lower_half({at, at + n}, &cache);
      const M part = transformer.upper_half(lower, transformer.latent({latent, latent + n}), &cache).matrix();
      // The same sums in products of other shapes: some tens of roundings.
      CHECK((part - whole.middleRows(row, n)).norm() < 1e-14 * whole.norm());
      at += n;
      latent += n;
      row += n;
    }
  }
}

TEST_CASE("generation continues the prompt, is reproducible, and checks its input") {
  const Small model;
  const auto latents = prior_latents(9, model.shape.bits, 5, 2);
  CHECK(std::set<int>(latents.begin(), latents.end()).size() > 2);
  const auto text = generate(model.shape, model.parameters, {1, 2}, latents, 1.0, 5, 2);
  CHECK(text.size() == 9);
  CHECK(text[0] == 1);
  CHECK(text == generate(model.shape, model.parameters, {1, 2}, latents, 1.0, 5, 2));
  CHECK_THROWS_AS(generate(model.shape, model.parameters, {}, latents, 1.0, 5, 2), UserError);
  PseudoRandomBits<double> source(5, 0, 0);
  const auto prefilled = prefill_latents(model.shape, model.parameters, {1, 2, 3}, 9, source, 5, 2);
  CHECK(std::vector<int>(prefilled.begin() + 3, prefilled.end()) ==
        std::vector<int>(latents.begin() + 3, latents.end()));
}

TEST_CASE("synthetic sequences have the stated statistics") {
  std::vector<std::vector<int>> all;
  for (std::uint64_t n = 0; n < 2000; ++n) all.push_back(SyntheticText::sequence(3, n));
  const SyntheticStatistics s = synthetic_statistics(all);
  CHECK(s.valid_prompts == 1);
  // Noise 1/16 of 128000 characters: 5 standard deviations are 0.0034. Places uniform on 0..56: standard deviation
  // 16.45/√n with n ≈ 2000 · share of unambiguous targets > 1500; five of them are 2.2.
  CHECK(std::abs(s.noise - 1.0 / 16) < 0.0034);
  CHECK(s.right_letters == 1);
  // A target is ambiguous when noise stands beside it and on its far end; measured share of clear ones 0.9.
  CHECK(s.whole_targets > 0.75);
  CHECK(std::abs(s.mean_position - 28) < 2.2);
}

TEST_CASE("free transformer refuses impossible sizes") {
  const auto refuses = [](auto change, const std::string& word) {
    FreeTransformerShape shape;
    change(shape);
    CHECK_THROWS_WITH(free_transformer_fields(shape), Catch::Contains(word));
  };
  refuses([](FreeTransformerShape& s) { s.bits = 21; }, "H = 21");
  refuses([](FreeTransformerShape& s) { s.heads = 3; }, "heads = 3");
  refuses([](FreeTransformerShape& s) { s.width = 6; }, "odd");
  refuses([](FreeTransformerShape& s) { s.layers = 3; }, "layers = 3");
  refuses([](FreeTransformerShape& s) { s.key_value_heads = 3; }, "key_value_heads = 3");
}
