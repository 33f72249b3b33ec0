// SPDX-License-Identifier: Apache-2.0
// The same networks through `nudge train`: a config, its plan, the case's numbers in its maps, one batch gradient. z*, z±, adjoint and
// gradient are those of the case, and a step of plain descent takes that gradient off the weights.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/case_kind.hpp"
#include "reference/drn_problem.hpp"
#include "reference/eqblock_problem.hpp"
#include "reference/hopnet_problem.hpp"
#include "reference/letnet_problem.hpp"
#include "sim/io/h5_document.hpp"
#include "tests/apps/run_nudge.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/shared_file.hpp"
#include "training/config/config_table.hpp"
#include "training/models/resistive/resistive_plan.hpp"
#include "training/train/equilibrium_run.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

using Matrices = std::vector<Matrix<double>>;

std::string real(const char* key, double value) { return fmt::format("{}={:.17g}", key, value); }

/// What `nudge train` makes of a config, with other numbers in its maps.
struct Trained {
  Trained(std::vector<std::string> settings, const TaskSizes& task, const Matrices& weights, Batch examples)
      : config(parse_program_config("case", "", with_common(std::move(settings)))),
        plan(network_plan(config, task)),
        trainee(config, plan, "", Weights::configured),
        batch(std::move(examples)) {
    REQUIRE(static_cast<int>(weights.size()) == trainee.network().parameters());
    for (std::size_t p = 0; p < weights.size(); ++p) trainee.network().map(static_cast<int>(p)).program(weights[p]);
  }
  static std::vector<std::string> with_common(std::vector<std::string> settings) {
    for (const char* each :
         {"precision=double", "threads=1", "relaxation.tolerance=0", "growth.strength=0", "damping.control=false",
          "train.optimizer=sgd", "train.momentum=0", "train.learning_rate=1", "train.schedule=constant",
          "train.warmup=0", "train.gradient_clip=0", "train.weight_decay=0"}) {
      settings.emplace_back(each);
    }
    return settings;
  }

  struct Found {
    Matrix<double> z, adjoint;  ///< of all examples, one below the other
    Gradient<double> gradient;
  };
  Found compute(const std::string& estimator, NudgeSides sides = NudgeSides::centered) {
    BatchGradientOptions options = gradient_options<double>(config, estimator);
    options.phases.sides = sides;
    BatchGradient<double> learner(trainee.network(), options);
    Found found;
    learner.compute(batch, 0, found.gradient);
    found.z = below_each_other(learner.states());
    found.adjoint = below_each_other(learner.adjoints());
    return found;
  }
  /// z₊ or z₋: one-sided adjoints are (z* − z₊)/β and (z₋ − z*)/β.
  Matrix<double> nudged(const std::string& estimator, double sign) {
    const Found found = compute(estimator, sign > 0 ? NudgeSides::positive : NudgeSides::negative);
    return found.z - sign * gradient_options<double>(config, estimator).phases.beta * found.adjoint;
  }
  /// What one step of training at rate 1 takes off the weights: the gradient, to rounding of the weights.
  void check_step(const std::string& estimator) {
    const Found found = compute(estimator);
    Matrices before;
    for (int p = 0; p < trainee.network().parameters(); ++p) before.push_back(trainee.network().map(p).weights());
    trainee.step(0, batch);
    for (int p = 0; p < trainee.network().parameters(); ++p) {
      const Matrix<double>& w = before[static_cast<std::size_t>(p)];
      Matrix<double> expected = w - found.gradient[p];
      if (plan->parameters()[static_cast<std::size_t>(p)].conductance) expected = expected.cwiseMax(0.0);
      CHECK((trainee.network().map(p).weights() - expected).norm() <= 1e-14 * (w.norm() + found.gradient[p].norm()));
    }
  }
  static Matrix<double> below_each_other(const std::vector<Matrix<double>>& all) {
    Matrix<double> out(static_cast<Index>(all.size()) * all[0].rows(), all[0].cols());
    Index row = 0;
    for (const auto& one : all) {
      out.middleRows(row, one.rows()) = one;
      row += one.rows();
    }
    return out;
  }

  Config config;
  std::shared_ptr<const NetworkPlan> plan;
  EquilibriumRun<double> trainee;
  Batch batch;
};

/// Datasets of a case by name: references of a file, or what `nudge case` computes.
class Expected {
 public:
  explicit Expected(const H5Reader& file) {
    for (const std::string& name : file.all_datasets("out")) all_[name] = file.reals<double>(name);
  }
  explicit Expected(const std::vector<CaseDataset>& computed) {
    for (const CaseDataset& each : computed) all_[each.name] = each.values;
  }
  void check(const std::string& name, const Matrix<double>& found, double tolerance) const {
    CAPTURE(name);
    const std::vector<double>& values = all_.at("out/" + name);
    REQUIRE(static_cast<Index>(values.size()) == found.size());
    const Eigen::Map<const Matrix<double>> expected(values.data(), found.rows(), found.cols());
    const double scale = expected.norm();
    CHECK((found - expected).norm() <= tolerance * (scale > 0 ? scale : 1.0));
  }

 private:
  std::map<std::string, std::vector<double>> all_;
};

/// A copy of a case whose x and y are numbers of seven digits, as batches have them.
std::string rounded_copy(const std::filesystem::path& path, const Folder& folder) {
  const H5Reader file(path);
  H5Document document;
  document.copy_root_attributes(file);
  for (const std::string& name : file.all_datasets()) {
    if (name.rfind("out/", 0) == 0) continue;
    if (file.type(name) == H5Type::integer) {
      document.dataset(name, file.integers(name), file.shape(name), {});
      continue;
    }
    std::vector<double> values = file.reals<double>(name);
    if (name == "inputs/x" || name == "inputs/y") {
      for (double& value : values) value = static_cast<double>(static_cast<float>(value));
    }
    document.dataset(name, values, file.shape(name), {});
  }
  document.write(folder.file("case.h5"), Overwrite::replace);
  return folder.file("case.h5");
}

}  // namespace

TEST_CASE("trained blocks are those of the reference cases", "[trained]") {
  for (const auto& path : reference_cases("eqblock_")) {
    CAPTURE(path.filename().string());
    const H5Reader file(path);
    const EqblockProblem p(file);
    const Expected expected(file);
    const double rows = static_cast<double>(p.batch.sequences * p.batch.tokens);
    Trained trained({"network.kind=block", "estimator=aep", fmt::format("model.tokens={}", p.shape.tokens),
                     fmt::format("model.channels={}", p.shape.channels), fmt::format("model.heads={}", p.shape.heads),
                     fmt::format("model.memories={}", p.shape.memories), real("model.attention_gain", p.gain),
                     real("model.damping", p.damping), real("relaxation.step", p.step), real("beta", p.beta / rows),
                     fmt::format("relaxation.free_steps={}", p.free_steps),
                     fmt::format("relaxation.nudged_steps={}", p.nudged_steps)},
                    {p.shape.tokens, p.shape.vocabulary, 0, 0, 0}, p.weights, p.batch);
    for (const auto& [estimator, suffix] : {std::pair{"aep", ""}, {"ep", "plain"}, {"aep_transposed", "transposed"}}) {
      const std::string name = suffix, tail = name.empty() ? "" : "_" + name;
      const Trained::Found found = trained.compute(estimator);
      expected.check("z_star", found.z, 1e-12);  // tolerances of the cases
      expected.check("a" + tail, found.adjoint / rows, 1e-10);
      expected.check("z_plus" + tail, trained.nudged(estimator, 1), 1e-12);
      expected.check("z_minus" + tail, trained.nudged(estimator, -1), 1e-12);
      for (const ParameterGroup& group : trained.plan->groups()) {
        expected.check("grad_" + (name.empty() ? "aep" : name) + "/" + group.name,
                       found.gradient[group.parameter].middleCols(group.columns.begin, group.columns.count), 1e-10);
      }
    }
    trained.check_step("aep");
  }
}

TEST_CASE("trained transformers are those of the reference cases", "[trained]") {
  for (const auto& path : reference_cases("letnet_")) {
    CAPTURE(path.filename().string());
    const H5Reader file(path);
    const LetnetProblem p(file);
    const Expected expected(file);
    const LetnetSizes& s = p.sizes;
    Matrices weights{p.weights.at("tok")[0]};
    if (!p.rope) weights.push_back(p.weights.at("pos")[0]);
    for (std::size_t l = 0; l < static_cast<std::size_t>(s.layers); ++l) {
      Matrix<double> qkv(s.channels, 3 * s.channels);
      qkv << p.weights.at("Wq")[l], p.weights.at("Wk")[l], p.weights.at("Wv")[l];
      for (const Matrix<double>& w : {qkv, p.weights.at("Wo")[l], p.weights.at("W1")[l], p.weights.at("W2")[l]}) {
        weights.push_back(w);
      }
    }
    weights.push_back(p.weights.at("Wh")[0]);
    Trained trained(
        {"network.kind=transformer", "estimator=aep_transposed", fmt::format("model.tokens={}", s.tokens),
         fmt::format("model.channels={}", s.channels), fmt::format("model.heads={}", s.heads),
         fmt::format("model.memories={}", s.hidden), fmt::format("transformer.layers={}", s.layers),
         fmt::format("transformer.loops={}", s.loops), real("transformer.feedback", p.kappa),
         fmt::format("transformer.activation={}", p.activation == LetnetActivation::gelu ? "gelu" : "relu2"),
         fmt::format("transformer.positions={}", p.rope ? "rotary" : "learned"), real("relaxation.step", p.step),
         real("beta", p.beta), fmt::format("relaxation.free_steps={}", p.free_steps),
         fmt::format("relaxation.nudged_steps={}", p.nudged_steps), "relaxation.schedule=parallel"},
        {s.tokens, s.vocabulary, 0, 0, 0}, weights, {s.batch, s.tokens, p.idx, p.targets});
    // [B, n, T, C] of states one below the other (B·T, n·C).
    const auto by_node = [&](const Matrix<double>& z) {
      std::vector<Matrix<double>> samples;
      for (Index b = 0; b < s.batch; ++b) samples.emplace_back(z.middleRows(b * s.tokens, s.tokens));
      const std::vector<double> values = nodes_from_samples(samples, s);
      return Matrix<double>(Eigen::Map<const Matrix<double>>(values.data(), 1, static_cast<Index>(values.size())));
    };
    const Trained::Found found = trained.compute("aep_transposed");
    expected.check("euler_z_T1", by_node(found.z), 1e-12);
    expected.check("a_transposed", by_node(found.adjoint) / static_cast<double>(s.batch * s.tokens), 1e-11);
    expected.check("z_plus_transposed", by_node(trained.nudged("aep_transposed", 1)), 1e-12);
    expected.check("z_minus_transposed", by_node(trained.nudged("aep_transposed", -1)), 1e-12);
    expected.check("grad_transposed/tok", found.gradient[0], 1e-11);
    const Index c = s.channels;
    Matrix<double> wq(s.layers * c, c), w2(s.layers * s.hidden, c);
    for (Index l = 0; l < s.layers; ++l) {
      const int first = (p.rope ? 1 : 2) + 4 * static_cast<int>(l);
      wq.middleRows(l * c, c) = found.gradient[first].leftCols(c);
      w2.middleRows(l * s.hidden, s.hidden) = found.gradient[first + 3];
    }
    expected.check("grad_transposed/Wq", wq, 1e-11);
    expected.check("grad_transposed/W2", w2, 1e-11);
    expected.check("grad_transposed/Wh", found.gradient[trained.plan->readout().parameter], 1e-12);
    trained.check_step("aep_transposed");
  }
}

TEST_CASE("trained layered networks are those of the reference cases", "[trained]") {
  const Folder folder;
  for (const char* name : {"hopnet_proj_se", "hopnet_proj_ce", "hopnet_tanh_se", "hopnet_sigmoid_ce",
                           "hopnet_asym_tanh_se", "convnet_proj_se", "convnet_tanh_ce"}) {
    for (const auto& path : reference_cases(name)) {
      CAPTURE(path.filename().string());
      const H5Reader file(rounded_copy(path, folder));
      const HopnetProblem p(file);
      const Expected expected(compute_hopnet(file));
      const HopfieldShape& s = p.shape;
      const auto convolved = s.convolutions.size();
      std::vector<Index> hidden(s.widths.begin() + 1 + static_cast<std::ptrdiff_t>(convolved), s.widths.end());
      if (!p.cross_entropy()) hidden.pop_back();
      std::vector<Index> maps, kernels, pools;
      for (const Convolution& each : s.convolutions) {
        maps.push_back(each.maps);
        kernels.push_back(each.kernel);
        pools.push_back(each.pool);
      }
      std::vector<std::string> settings{
          convolved > 0 ? "network.kind=convolutional" : "network.kind=hopfield",
          p.cross_entropy() ? "task.kind=classification" : "task.kind=regression",
          fmt::format("hopfield.cost={}", p.cross_entropy() ? "cross_entropy" : "squared_error"),
          fmt::format("hopfield.hidden=[{}]", fmt::join(hidden, ",")),
          "hopfield.activation=" + file.text_attribute("activation"),
          "hopfield.output_activation=" + file.text_attribute("output_activation"),
          "hopfield.form=" + file.text_attribute("form"),
          fmt::format("hopfield.feedback={}", s.asymmetric ? "separate" : "transpose"),
          fmt::format("estimator={}", s.asymmetric ? "aep" : "ep"), real("beta", p.beta),
          real("relaxation.step", p.step),
          // A decay of 0.03 per τ or more: e^−48 and less is left after so many steps of 0.2 and more.
          "relaxation.free_steps=8000", "relaxation.nudged_steps=8000"};
      if (convolved > 0) {
        settings.push_back(fmt::format("convolutional.maps=[{}]", fmt::join(maps, ",")));
        settings.push_back(fmt::format("convolutional.kernel=[{}]", fmt::join(kernels, ",")));
        settings.push_back(fmt::format("convolutional.pool=[{}]", fmt::join(pools, ",")));
      }
      std::vector<Index> image{s.widths[0]};
      if (convolved > 0) image = {s.convolutions[0].channels, s.convolutions[0].height, s.convolutions[0].width};
      const Index values = p.cross_entropy() ? 0 : s.widths.back();
      Trained trained(settings, {p.batch, 0, s.classes, s.widths[0], values, image}, p.weights,
                      {1, p.batch, {}, p.targets, p.x.cast<float>(), p.y.cast<float>()});
      const std::string estimator = s.asymmetric ? "aep" : "ep", tail = s.asymmetric ? "_aep" : "";
      const Trained::Found found = trained.compute(estimator);
      expected.check("z_fp", found.z, 1e-11);  // tolerances of the cases
      expected.check("z_plus" + tail, trained.nudged(estimator, 1), 1e-11);
      expected.check("z_minus" + tail, trained.nudged(estimator, -1), 1e-11);
      expected.check(s.asymmetric ? "a_aep" : "a_ep", found.adjoint, 1e-9);
      const auto check_gradient = [&](const std::string& group, const Gradient<double>& gradient) {
        for (std::size_t k = 0; k < p.parameters.size(); ++k) {
          const Matrix<double>& g = gradient[static_cast<int>(k)];
          expected.check(group + "/" + p.parameters[k].name,
                         p.parameters[k].kernels ? Matrix<double>(g.transpose()) : g, 1e-9);
        }
      };
      check_gradient(s.asymmetric ? "grad_aep" : "grad_vf_centered", found.gradient);
      if (!s.asymmetric) check_gradient("grad_ep_centered", trained.compute("ep_contrastive").gradient);
      trained.check_step(estimator);
    }
  }
}

TEST_CASE("trained resistive networks are those of the reference cases", "[trained]") {
  const Folder folder;
  for (const auto& path : reference_cases("drn_")) {
    CAPTURE(path.filename().string());
    const H5Reader file(rounded_copy(path, folder));
    const DrnProblem p(file);
    const Expected expected(compute_drn(file));
    const ResistiveNetwork& net = *p.network;
    std::vector<Index> hidden;
    std::vector<double> gains;
    for (Index l = 1; l <= net.depth(); ++l) {
      if (l < net.depth()) hidden.push_back(net.width(l));
      gains.push_back(net.gain(l - 1));
    }
    const bool rails = net.bias() == ResistiveBias::rails;
    const Index samples = p.batch(), depth = net.depth();
    Matrices weights;
    Matrix<double> scale(1, net.cols());  // u = A_l ⋯ A_{L−1} v
    std::vector<double> above(static_cast<std::size_t>(depth), 1.0);
    for (Index l = depth - 1; l >= 1; --l) {
      above[static_cast<std::size_t>(l - 1)] = net.gain(l) * above[static_cast<std::size_t>(l)];
    }
    for (Index l = 1; l <= depth; ++l) weights.push_back(net.layer(l).conductance);
    for (Index l = 1; l <= depth; ++l) {
      const double amplified = above[static_cast<std::size_t>(l - 1)];
      scale.middleCols(net.columns(l).begin, net.width(l)).setConstant(amplified);
      weights.push_back((rails ? 1.0 : amplified) * net.layer(l).bias);
    }
    Trained trained({"network.kind=resistive", "task.kind=regression", "estimator=ep_contrastive",
                     fmt::format("resistive.hidden=[{}]", fmt::join(hidden, ",")),
                     fmt::format("resistive.gain=[{:.17g}]", fmt::join(gains, ",")),
                     fmt::format("resistive.bias={}", rails ? "rails" : "current"),
                     real("resistive.rail_voltage", net.rail_V()), real("beta", p.beta), "relaxation.solver=coordinate",
                     "relaxation.free_steps=3000", "relaxation.nudged_steps=3000"},
                    {samples, 0, 0, p.x.cols(), net.width(depth), {p.x.cols()}}, weights,
                    {1, samples, {}, {}, p.x.cast<float>(), p.target.cast<float>()});
    const auto volts = [&](const Matrix<double>& u) {
      return Matrix<double>((u.array().rowwise() / scale.row(0).array()).matrix());
    };
    const Trained::Found found = trained.compute("ep_contrastive");
    expected.check("v_star", volts(found.z), 1e-11);  // tolerances of the cases
    expected.check("v_plus", volts(trained.nudged("ep_contrastive", 1)), 1e-11);
    expected.check("v_minus", volts(trained.nudged("ep_contrastive", -1)), 1e-11);
    for (Index l = 1; l <= depth; ++l) {
      expected.check(fmt::format("grad_ep_centered/g{}", l), found.gradient[static_cast<int>(l - 1)], 1e-9);
      const double unit = rails ? 1.0 : above[static_cast<std::size_t>(l - 1)];
      expected.check(fmt::format("grad_ep_centered/{}{}", rails ? "gb" : "b", l),
                     unit * found.gradient[static_cast<int>(depth + l - 1)], 1e-9);
    }
    trained.check_step("ep_contrastive");
  }
}
