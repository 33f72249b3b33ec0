// SPDX-License-Identifier: Apache-2.0
#include "training/models/tapes/sequence_model.hpp"
#include "tests/support/catch.hpp"

#include <cmath>
#include <map>

#include "mixers/ops/softmax.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/numerics.hpp"
#include "training/train/tape_run.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

SequenceShape small(const std::string& mixer) {
  SequenceShape shape;
  shape.vocabulary = 5;
  shape.tokens = 7;
  shape.width = 32;
  shape.heads = 2;
  shape.inner = 8;
  shape.mixer = mixer;
  return shape;
}

Index mixer_weights(const SequenceShape& shape) {
  Index weights = 0;
  for (const Field& field : sequence_fields(shape)) {
    const bool of_mixer = field.name.rfind("b0_W", 0) == 0 && field.name != "b0_Wg" && field.name != "b0_Wu" &&
                          field.name != "b0_Wd" && field.name != "b0_W_dec";
    if (of_mixer) weights += field.rows() * field.cols();
  }
  return weights;
}

struct Model {
  explicit Model(const SequenceShape& shape, std::vector<int> tokens)
      : fields(sequence_fields(shape)),
        parameters(initial_parameters<double>(fields, 3)),
        tokens_read(std::make_shared<std::vector<int>>(std::move(tokens))) {
    for (std::size_t k = 0; k < fields.size(); ++k) {
      // Off the start, where some derivatives vanish.
      parameters[k] += test::random_matrix<double>(parameters[k].rows(), parameters[k].cols(), 50 + k, 0.1);
    }
    for (std::size_t k = 0; k < fields.size(); ++k) {
      values.push_back(tape.parameter(parameters[k]));
      named.add(fields[k].name, values.back());
    }
    logits = sequence_logits<double>(gather_rows(named["emb"], tokens_read), shape, named);
  }

  std::vector<Field> fields;
  std::vector<Matrix<double>> parameters;
  std::shared_ptr<std::vector<int>> tokens_read;
  Tape<double> tape;
  NamedValues<double> named;
  std::vector<Value<double>> values;
  Value<double> logits;
};

const std::vector<int> kText = {0, 3, 1, 4, 4, 2, 0};

}  // namespace

TEST_CASE("every mixer of the sequence model has 4 D² weights, but for those of energies, and what heads have each") {
  const std::map<std::string, Index> fewer = {
      {"mha2nd1st_nov", 3}, {"gd_inner", 2}, {"gd_elastic", 2}, {"loop_inner", 2}, {"loop_elastic", 2}};
  const std::map<std::string, Index> of_heads = {
      {"deltanet", 1}, {"gated_deltanet", 2}, {"mamba2", 1}, {"aft", 1}, {"fem_aft", 1}};
  const auto in = [](const std::map<std::string, Index>& all, const std::string& name, Index otherwise) {
    const auto at = all.find(name);
    return at == all.end() ? otherwise : at->second;
  };
  for (const std::string& name : sequence_mixer_names()) {
    CAPTURE(name);
    CHECK(mixer_weights(small(name)) == in(fewer, name, 4) * 32 * 32 + in(of_heads, name, 0) * 32 * 2);
  }
}

TEST_CASE("sequence models: gradients of all parameters, causal logits, and a tape that runs again") {
  for (const std::string& name : sequence_mixer_names()) {
    CAPTURE(name);
    Model model(small(name), kText);
    const auto loss = cross_entropy(model.logits, {3, 1, 4, 4, 2, 0, 1});
    model.tape.add_cotangent(loss, Matrix<double>::Ones(1, 1));
    model.tape.pull_back(Leaves::parameters);
    for (std::size_t k = 0; k < model.fields.size(); ++k) {
      CAPTURE(model.fields[k].name);
      const Matrix<double>& gradient = model.tape.cotangent(model.values[k]);
      const bool unread = name != "mha" && gradient.size() == 0;  // β of ablations without F
      if (unread) continue;
      // One direction by central differences: h² f''' ~ 1e-10 and rounding 1e-16/1e-5·|loss| ~ 1e-10, against
      // derivatives of 1e-2 and more; features of gla bend at 1e-6, which a difference rarely meets.
      const Matrix<double> direction = test::random_matrix<double>(gradient.rows(), gradient.cols(), 90 + k);
      const double h = 1e-6;
      double change = 0;
      for (const double sign : {1.0, -1.0}) {
        model.parameters[k] += sign * h * direction;
        model.tape.run();
        change += sign * loss.matrix()(0, 0) / (2 * h);
        model.parameters[k] -= sign * h * direction;
      }
      CHECK(std::abs(change - gradient.cwiseProduct(direction).sum()) <= 1e-6 * std::max(1.0, std::abs(change)));
    }
    model.tape.run();
    const Matrix<double> before = model.logits.matrix();
    (*model.tokens_read)[5] = 1;
    model.tape.run();
    CHECK((model.logits.matrix().topRows(5) - before.topRows(5)).norm() <= 1e-12 * before.norm());
    CHECK((model.logits.matrix() - before).norm() > 1e-6);
    const Model other(small(name), {0, 3, 1, 4, 4, 1, 0});
    CHECK((model.logits.matrix() - other.logits.matrix()).norm() <= 1e-12 * before.norm());
  }
}

TEST_CASE("momentum models without momentum are the residual model") {
  Model plain(small("mha"), kText);
  for (const char* name : {"momen", "nag"}) {
    Model model(small(name), kText);
    for (std::size_t k = 0; k < model.fields.size(); ++k) {
      const std::string& field = model.fields[k].name;
      if (field.ends_with("_beta")) {
        model.parameters[k].setZero();
      } else if (field.ends_with("_eta")) {
        model.parameters[k].setOnes();
      } else {
        for (std::size_t j = 0; j < plain.fields.size(); ++j) {
          if (plain.fields[j].name == field) model.parameters[k] = plain.parameters[j];
        }
      }
    }
    model.tape.run();
    CHECK((model.logits.matrix() - plain.logits.matrix()).norm() <= 1e-12 * plain.logits.matrix().norm());
  }
}

TEST_CASE("an auto-encoder reads everything from the last token") {
  SequenceShape shape = small("mha");
  shape.readout = Readout::last_vector;
  Model model(shape, kText);
  const Matrix<double> before = model.logits.matrix();
  (*model.tokens_read)[0] = 4;
  model.tape.run();
  for (Index t = 0; t < 7; ++t) CHECK((model.logits.matrix().row(t) - before.row(t)).norm() > 1e-9);
  CHECK((before.row(0) - before.row(1)).norm() > 1e-9);  // places differ
}

TEST_CASE("the sequence model refuses sizes that a mixer cannot have, naming them") {
  const auto refused = [](const std::string& mixer, Index width, Index heads) {
    SequenceShape shape = small(mixer);
    shape.width = width;
    shape.heads = heads;
    try {
      sequence_fields(shape);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(refused("mha", 16, 3), Contains("heads = 3") && Contains("must divide"));
  CHECK_THAT(refused("mha", 12, 4), Contains("head width 3 is odd"));
  CHECK_THAT(refused("fem_softmax_lt", 12, 2), Contains("8 (must divide channels = 12)"));
  CHECK(refused("fem_softmax", 16, 2).empty());
}
