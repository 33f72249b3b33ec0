// SPDX-License-Identifier: Apache-2.0
// Cases of the Free Transformer: sizes come from the shapes of the weights, the rest from attributes.
#include <fmt/format.h>

#include "mixers/free_transformer/model.hpp"
#include "mixers/ops/operations.hpp"
#include "mixers/ops/softmax.hpp"
#include "reference/case_kind.hpp"
#include "reference/tape_case.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

constexpr Index kMostBits = 20;

/// Reads H of the attribute, 1 to 20.
Index bits_of(const H5Reader& file) {
  const Index bits = positive_size(file, "H");
  if (bits > kMostBits) file.fail("attribute H", fmt::format("{} bits (must be at most {})", bits, kMostBits));
  return bits;
}

double kappa_of(const H5Reader& file) {
  const double kappa = finite_real(file, "kappa");
  if (kappa < 0) file.fail("attribute kappa", fmt::format("{} (must be at least 0)", kappa));
  return kappa;
}

/// Reads the heads of n_head, which divide a width into even parts.
Index heads_of(const H5Reader& file, Index width) {
  const Index heads = positive_size(file, "n_head");
  if (width % heads != 0) file.fail("attribute n_head", fmt::format("{} (must divide the width {})", heads, width));
  if ((width / heads) % 2 != 0) {
    file.fail("attribute n_head",
              fmt::format("{}: head width {} is odd (rotary positions need an even width)", heads, width / heads));
  }
  return heads;
}

/// Picks one sequence of a (batch, tokens, n) array.
Matrix<double> sequence_of(const std::vector<double>& values, Index sequence, Index rows, Index cols) {
  return Eigen::Map<const Matrix<double>>(values.data() + sequence * rows * cols, rows, cols);
}
std::vector<int> sequence_of(const std::vector<int>& values, Index sequence, Index tokens) {
  const auto begin = values.begin() + sequence * tokens;
  return {begin, begin + tokens};
}

std::shared_ptr<BitSampler<double>> given(const std::vector<double>& u, Index sequence, Index rows, Index cols) {
  return std::make_shared<GivenUniforms<double>>(sequence_of(u, sequence, rows, cols));
}

/// Shape of inputs/L (B, T, H) with H as the attribute says.
H5Shape logits_shape(const H5Reader& file) {
  const Index bits = bits_of(file);
  const auto sizes = TapeCase::sizes(file, "inputs/L", 3);
  return {sizes.batch, sizes.tokens, bits};
}

std::vector<CaseDataset> mapper(const H5Reader& file) {
  const H5Shape shape = logits_shape(file);
  const auto u = file.reals<double>("inputs/const_u", shape, NonFinite::rejected);
  TapeCase task(file, shape[0]);
  task.input("L", shape, shape[1]);
  task.output("y", {shape[0], shape[1], Index(1) << shape[2]});
  return task.compute([&](TapeCase::Call& call) {
    call.outputs = {bit_mapper(call.inputs["L"], given(u, call.sequence, shape[1], shape[2]))};
  });
}

std::vector<CaseDataset> kl(const H5Reader& file) {
  const H5Shape shape = logits_shape(file);
  const double kappa = kappa_of(file);
  TapeCase task(file, shape[0]);
  task.input("L", shape, shape[1]);
  task.output("y", {shape[0]});
  return task.compute(
      [&](TapeCase::Call& call) { call.outputs = {free_bits(latent_information(call.inputs["L"]), kappa)}; });
}

std::vector<CaseDataset> inject(const H5Reader& file) {
  const auto sizes = TapeCase::sizes(file, "inputs/x", 3);
  const H5Shape down = matrix_shape(file, "params/Wd");
  const Index width = down[1];
  const Index heads = heads_of(file, width);
  const AttentionHeads attention{heads, heads};
  const Index rows = Index(1) << bits_of(file);
  TapeCase task(file, sizes.batch);
  task.input("x", {sizes.batch, sizes.tokens, width}, sizes.tokens);
  task.input("Z", {sizes.batch, sizes.tokens, rows}, sizes.tokens);
  for (const Field& field : block_fields("", width, attention, down[0])) task.parameter(field.name, field.shape);
  task.parameter("post", {rows, width});
  task.output("y", {sizes.batch, sizes.tokens, width});
  const Mask mask = read_mask(file, sizes.tokens, sizes.tokens);
  return task.compute([&](TapeCase::Call& call) {
    const auto x = call.inputs["x"];
    const auto r = product(call.inputs["Z"], call.parameters["post"]);
    call.outputs = {block(x, x + r, call.parameters, "", attention, mask)};
  });
}

std::vector<CaseDataset> encoder(const H5Reader& file) {
  const auto sizes = TapeCase::sizes(file, "inputs/x", 3);
  const H5Shape down = matrix_shape(file, "params/enc_Wd");
  FreeTransformerShape shape;
  shape.width = down[1];
  shape.heads = heads_of(file, shape.width);
  shape.bits = bits_of(file);
  TapeCase task(file, sizes.batch);
  task.input("x", {sizes.batch, sizes.tokens, shape.width}, sizes.tokens);
  for (const Field& field : block_fields("enc_", shape.width, {shape.heads, shape.heads}, down[0]))
    task.parameter(field.name, field.shape);
  task.parameter("enc_nf", {shape.width});
  task.parameter("enc_read", {shape.width, shape.bits});
  task.parameter("zeta", {shape.width});
  task.output("y", {sizes.batch, sizes.tokens, shape.bits});
  return task.compute([&](TapeCase::Call& call) {
    call.outputs = {FreeTransformer<double>(shape, call.parameters).encode(call.inputs["x"])};
  });
}

/// Model that ft_model and ft_gen share.
struct Model {
  FreeTransformerShape shape;
  Index batch;
  Index tokens;
  std::vector<int> text;
};

Model read_model(const H5Reader& file) {
  Model m;
  const H5Shape text = file.shape("inputs/tok");
  if (text.size() != 2 || text[0] < 1 || text[1] < 1) {
    file.fail("inputs/tok", fmt::format("shape {} (must be (batch, tokens), both positive)", to_string(text)));
  }
  m.batch = text[0];
  m.tokens = text[1];
  m.shape.vocabulary = positive_size(file, "V");
  m.shape.layers = positive_size(file, "L");
  if (const auto last = fmt::format("params/b{}_Wd", m.shape.layers - 1); !file.has(last)) {
    file.fail("attribute L", fmt::format("{}, but {} is missing", m.shape.layers, last));
  }
  m.shape.bits = bits_of(file);
  m.shape.width = matrix_shape(file, "params/emb")[1];
  m.shape.heads = heads_of(file, m.shape.width);
  m.shape.inner = matrix_shape(file, "params/b0_Wd")[0];
  m.shape.encoder_inner = matrix_shape(file, "params/enc_Wd")[0];
  m.text = bounded_integers(file, "inputs/tok", text, m.shape.vocabulary);
  return m;
}

void add_parameters(const H5Reader& file, const Model& m, TapeCase& task) {
  std::vector<Field> fields;
  try {
    fields = free_transformer_fields(m.shape);
  } catch (const UserError& problem) {
    fail_option(file, problem.what());
  }
  for (const Field& field : fields) task.parameter(field.name, field.shape);
}

std::vector<CaseDataset> model(const H5Reader& file) {
  const Model m = read_model(file);
  const double kappa = kappa_of(file);
  const auto targets = bounded_integers(file, "inputs/tgt", {m.batch, m.tokens}, m.shape.vocabulary);
  const auto u = file.reals<double>("inputs/const_u", H5Shape{m.batch, m.tokens, m.shape.bits}, NonFinite::rejected);
  TapeCase task(file, m.batch);
  add_parameters(file, m, task);
  task.output("logits", {m.batch, m.tokens, m.shape.vocabulary});
  task.output("loss", {1}, CaseSpread::shared);
  return task.compute([&](TapeCase::Call& call) {
    const FreeTransformer<double> transformer(m.shape, call.parameters);
    const auto x = transformer.lower_half(sequence_of(m.text, call.sequence, m.tokens));
    const auto bit_logits = transformer.encode(x);
    const auto r = transformer.latent(bit_logits, given(u, call.sequence, m.tokens, m.shape.bits));
    const auto logits = transformer.upper_half(x, r);
    const auto mean_over = [](Value<double> sum, Index count) { return affine(sum, 1.0 / static_cast<double>(count)); };
    const auto ce = cross_entropy(logits, sequence_of(targets, call.sequence, m.tokens));
    const auto penalty = free_bits(latent_information(bit_logits), kappa);
    call.outputs = {logits, mean_over(ce, m.batch * m.tokens) + mean_over(penalty, m.batch)};
    call.observed.add("bitlogits", bit_logits);
  });
}

std::vector<CaseDataset> generation(const H5Reader& file) {
  const Model m = read_model(file);
  const auto latents = bounded_integers(file, "inputs/z_idx", {m.batch, m.tokens}, Index(1) << m.shape.bits);
  TapeCase task(file, m.batch);
  add_parameters(file, m, task);
  task.output("logits", {m.batch, m.tokens, m.shape.vocabulary});
  return task.compute([&](TapeCase::Call& call) {
    const FreeTransformer<double> transformer(m.shape, call.parameters);
    const auto x = transformer.lower_half(sequence_of(m.text, call.sequence, m.tokens));
    call.outputs = {transformer.upper_half(x, transformer.latent(sequence_of(latents, call.sequence, m.tokens)))};
  });
}

}  // namespace

std::vector<CaseKind> free_transformer_case_kinds() {
  return {{"ft_mapper", mapper},   {"ft_kl", kl},       {"ft_inject", inject},
          {"ft_encoder", encoder}, {"ft_model", model}, {"ft_gen", generation}};
}

}  // namespace nudge
