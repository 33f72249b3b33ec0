// SPDX-License-Identifier: Apache-2.0
// nudge.Network: a network as an object, in the precision of its config.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/arrays.hpp"
#include "python/src/bindings.hpp"
#include "python/src/computing.hpp"
#include "python/src/lent.hpp"
#include "python/src/model.hpp"
#include "python/src/results.hpp"
#include "training/config/config_table.hpp"
#include "training/learning/estimators/registry.hpp"

namespace nudge::python {
namespace {

std::size_t size_of(Index n) { return static_cast<std::size_t>(n); }

/// Stacks the matrices of a batch to one array (B, rows, cols).
template <class S>
nb::object stacked(const std::vector<Matrix<S>>& parts) {
  const Index rows = parts.empty() ? 0 : parts.front().rows(), cols = parts.empty() ? 0 : parts.front().cols();
  Matrix<S> all(rows * static_cast<Index>(parts.size()), cols);
  for (std::size_t b = 0; b < parts.size(); ++b) all.middleRows(static_cast<Index>(b) * rows, rows) = parts[b];
  return array_of(std::move(all), {parts.size(), size_of(rows), size_of(cols)});
}

nb::dict dict_of_batch(const BatchReport& r) {
  nb::dict out;
  out["loss"] = r.loss;
  out["rows"] = r.rows;
  out["residual"] = r.residual;
  out["residual_max"] = r.residual_max;
  out["nudged_residual"] = r.nudged_residual;
  out["nudge_ratio"] = r.nudge_ratio;
  out["steps"] = r.steps;
  out["time"] = r.time;
  out["nudged_time"] = r.nudged_time;
  out["cost_in_forces"] = r.cost_in_forces;
  out["energy"] = r.energy;
  out["clipped"] = r.clipped;
  out["diverged"] = r.diverged;
  out["array_energy_J"] = r.reads.total().array_J;
  nb::list sequences;
  for (const SequenceReport& one : r.sequences) sequences.append(dict_of(one));
  out["sequences"] = sequences;
  return out;
}

/// Gradients by group, in NumPy's memory.
template <class S>
nb::dict by_group(const Model<S>& model, const Gradient<S>& gradient) {
  nb::dict out;
  for (const ParameterGroup& group : model.groups()) {
    out[group.name.c_str()] =
        array_of(Matrix<S>(gradient[group.parameter].middleCols(group.columns.begin, group.columns.count)));
  }
  return out;
}

template <class S>
std::map<std::string, Matrix<S>> matrices(const std::map<std::string, In<S, 2>>& arrays) {
  std::map<std::string, Matrix<S>> out;
  for (const auto& [name, array] : arrays) out.emplace(name, map_of<S, 2>(array));
  return out;
}

/// Contents of a batch as NumPy arrays: symbols and targets, or features and labels or values, rows that do not count
/// left out.
nb::tuple contents(const Batch& batch) {
  const Index rows = batch.sequences * batch.tokens;
  const auto ints = [](const std::vector<int>& all, Index n, Index cols) {
    return Matrix<int>(Eigen::Map<const Matrix<int>>(all.data(), n, cols));
  };
  if (batch.features.size() == 0) {
    return nb::make_tuple(array_of(ints(batch.indices, batch.sequences, batch.tokens)),
                          array_of(ints(batch.targets, batch.sequences, batch.tokens)));
  }
  std::vector<Index> counted;
  for (Index row = 0; row < rows; ++row) {
    if (batch.counts(row)) counted.push_back(row);
  }
  const auto n = static_cast<Index>(counted.size());
  Matrix<float> x(n, batch.features.cols()), values(n, batch.values.cols());
  Matrix<int> labels(1, n);
  for (Index i = 0; i < n; ++i) {
    const Index row = counted[size_of(i)];
    x.row(i) = batch.features.row(row);
    if (batch.values.size() > 0) values.row(i) = batch.values.row(row);
    if (!batch.targets.empty()) labels(0, i) = batch.targets[size_of(row)];
  }
  if (batch.values.size() > 0) return nb::make_tuple(array_of(std::move(x)), array_of(std::move(values)));
  return nb::make_tuple(array_of(std::move(x)), array_of(std::move(labels), {size_of(n)}));
}

/// Computes the gradient of a batch, by group, and facts. estimator: its name, "": the config's; own: a Python
/// estimator, or None; step names the read noise.
template <class S>
nb::tuple gradient(Model<S>& model, const Batch& batch, const std::string& estimator, const nb::object& own,
                   std::uint64_t step, const Texts& settings) {
  if (batch.counted() == 0) throw UserError("y: no row counts, so there is no cost (give y)");
  Gradient<S> sum;
  BatchReport report;
  std::vector<Matrix<S>> states, adjoints;
  compute(model.own(own), [&] {
    BatchGradient<S> learner(model.network(), model.options(estimator, settings));
    report = learner.compute(batch, step, sum);
    states = learner.states();
    adjoints = learner.adjoints();
  });
  nb::dict facts = dict_of_batch(report);
  facts["state"] = stacked(states);
  facts["adjoint"] = stacked(adjoints);
  return nb::make_tuple(by_group(model, sum), facts);
}

template <class S>
nb::tuple evaluate(Model<S>& model, const Batch& batch, std::uint64_t step, const Texts& settings) {
  BatchReport report;
  std::vector<Matrix<S>> outputs;
  compute(model.own(), [&] {
    BatchGradient<S> learner(model.network(), model.options("", settings));
    report = learner.evaluate(batch, step);
    outputs = learner.outputs();
  });
  return nb::make_tuple(stacked(outputs), dict_of_batch(report));
}

/// Input clamp of the examples of a batch, (B·rows, inputs).
template <class S>
Matrix<S> inputs_of(Model<S>& model, const Batch& batch) {
  const Network<S>& network = model.network();
  const Index inputs = batch.features.size() > 0 ? batch.features.cols() : network.circuit().inputs();
  Matrix<S> x(batch.sequences * network.rows(), inputs);
  Matrix<S> one;
  for (Index b = 0; b < batch.sequences; ++b) {
    network.clamp(batch, b, one);
    x.middleRows(b * network.rows(), network.rows()) = one;
  }
  return x;
}

template <class S>
nb::tuple settle_input(Model<S>& model, const Eigen::Ref<const Matrix<S>, 0, Eigen::OuterStride<>>& x,
                       std::uint64_t step, const Texts& settings) {
  Matrix<S> z;
  std::vector<SettleResult> results;
  compute(model.own(),
          [&] { results = EquilibriumLayer<S>(model.network(), model.options("", settings)).settle(x, step, z); });
  nb::list facts;
  for (const SettleResult& one : results) facts.append(dict_of(one));
  const auto rows = size_of(model.network().rows()), cols = size_of(z.cols());
  return nb::make_tuple(array_of(std::move(z), {results.size(), rows, cols}), facts);
}

template <class S>
void check_input(Model<S>& model, const In<S, 3>& x) {
  const Network<S>& n = model.network();
  if (x.shape(1) != size_of(n.rows()) || x.shape(2) != size_of(n.circuit().inputs()) || x.shape(0) == 0) {
    throw UserError("x: shape (" + std::to_string(x.shape(0)) + ", " + std::to_string(x.shape(1)) + ", " +
                    std::to_string(x.shape(2)) + ") (must be (examples, " + std::to_string(n.rows()) + ", " +
                    std::to_string(n.circuit().inputs()) + "))");
  }
}

/// Pulls u back through the equilibrium of x: gradients by group, that of x, and facts. Other parameters as in
/// gradient().
template <class S>
nb::tuple pull_back(Model<S>& model, const In<S, 3>& x, const In<S, 3>& u, const std::string& estimator,
                    const nb::object& own, std::uint64_t step, const Texts& settings) {
  check_input<S>(model, x);
  const auto cols = size_of(model.network().cols());
  if (u.shape(0) != x.shape(0) || u.shape(1) != x.shape(1) || u.shape(2) != cols) {
    throw UserError("u: its shape must be (examples, rows, " + std::to_string(cols) + "), as z has it");
  }
  Gradient<S> sum;
  Matrix<S> x_gradient;
  std::vector<SequenceReport> reports;
  compute(model.own(own), [&] {
    EquilibriumLayer<S> layer(model.network(), model.options(estimator, settings));
    reports = layer.pull_back(map_of<S, 3>(x), map_of<S, 3>(u), step, sum, x_gradient);
  });
  nb::list facts;
  for (const SequenceReport& one : reports) facts.append(dict_of(one));
  return nb::make_tuple(by_group(model, sum), array_of(std::move(x_gradient), {x.shape(0), x.shape(1), x.shape(2)}),
                        facts);
}

template <class S>
void bind_model(nb::module_& m, const char* name) {
  using namespace nb::literals;
  using M = Model<S>;
  using Arrays = std::map<std::string, In<S, 2>>;
  nb::class_<M>(m, name)
      .def(
          "__init__",
          [](M* self, const std::string& config, const std::string& text, const Texts& settings, const nb::tuple& own) {
            const auto parts = std::make_shared<const OwnParts>(own);
            compute(*parts, [&] { new (self) M(parse_program_config(config, text, settings), parts); });
          },
          "name"_a, "text"_a, "settings"_a, "own"_a)
      .def_prop_ro("groups",
                   [](const M& model) {
                     nb::dict out;
                     for (const ParameterGroup& g : model.groups()) out[g.name.c_str()] = g.readout;
                     return out;
                   })
      .def_prop_ro("rows", [](M& model) { return model.network().rows(); })
      .def_prop_ro("cols", [](M& model) { return model.network().cols(); })
      .def_prop_ro("inputs", [](M& model) { return model.network().circuit().inputs(); })
      .def_prop_ro("embedding",
                   [](M& model) {
                     const Embedding at = model.network().plan().embedding();
                     nb::list out;
                     for (const ParameterGroup& g : model.groups()) {
                       if (g.parameter == at.symbols || g.parameter == at.positions) out.append(g.name);
                     }
                     return out;
                   })
      .def_prop_ro("readout_node",
                   [](M& model) {
                     return model.network().circuit().nodes()[size_of(model.network().plan().readout().node)].name;
                   })
      .def_prop_ro("nodes",
                   [](M& model) {
                     nb::dict out;
                     for (const Node& node : model.network().circuit().nodes()) {
                       out[node.name.c_str()] = nb::make_tuple(node.columns.begin, node.columns.end());
                     }
                     return out;
                   })
      .def_prop_rw(
          "damping", [](M& model) { return model.network().circuit().damping().value; },
          [](M& model, double c) { model.network().circuit().set_damping(c); })
      .def("parameter",
           [](nb::pointer_and_handle<M> self, const std::string& group) {
             const ParameterGroup& g = self.p->group(group);
             return view_of(self.p->network().map(g.parameter).weights(), g.columns, self.h);
           })
      .def("program", [](M& model, const Arrays& values) { model.program(matrices<S>(values)); })
      .def("update", [](M& model, const Arrays& changes) { model.update(matrices<S>(changes)); })
      .def("advance_time", &M::advance_time, "seconds"_a, "reading"_a)
      .def("array",
           [](nb::pointer_and_handle<M> self, const std::string& group) {
             return facts_of(self.p->network().map(self.p->group(group).parameter), self.h);
           })
      .def("symbols", [](const M& model, const In<int, 2>& x,
                         const In<int, 2>& y) { return model.symbols(map_of<int, 2>(x), map_of<int, 2>(y)); })
      .def("samples",
           [](const M& model, const In<float, 2>& x, const In<int, 1>& labels, const In<float, 2>& values) {
             return model.samples(map_of<float, 2>(x), {labels.data(), labels.data() + labels.size()},
                                  map_of<float, 2>(values));
           })
      .def("training", [](const M& model, std::uint64_t step) { return contents(model.task().training(step)); })
      .def("validation",
           [](const M& model) {
             nb::list out;
             for (const Batch& batch : model.task().validation()) out.append(contents(batch));
             return out;
           })
      .def("gradient", gradient<S>, "batch"_a, "estimator"_a, "own"_a.none(), "step"_a, "settings"_a)
      .def("evaluate", evaluate<S>, "batch"_a, "step"_a, "settings"_a)
      .def("settle",
           [](M& model, const Batch& batch, std::uint64_t step, const Texts& settings) {
             return settle_input<S>(model, inputs_of(model, batch), step, settings);
           })
      .def("settle_input",
           [](M& model, const In<S, 3>& x, std::uint64_t step, const Texts& settings) {
             check_input<S>(model, x);
             return settle_input<S>(model, map_of<S, 3>(x), step, settings);
           })
      .def("pull_back", pull_back<S>, "x"_a, "u"_a, "estimator"_a, "own"_a.none(), "step"_a, "settings"_a);
}

}  // namespace

void bind_network(nb::module_& m) {
  nb::class_<Batch>(m, "Batch")
      .def_prop_ro("examples", [](const Batch& b) { return b.sequences; })
      .def_prop_ro("rows", [](const Batch& b) { return b.tokens; });
  bind_model<float>(m, "NetworkFloat");
  bind_model<double>(m, "NetworkDouble");
  m.def(
      "estimators",
      [] {
        nb::list out;
        for (const std::string& name : estimator_names()) out.append(name);
        return out;
      },
      "Returns the names of all gradient estimators.");
}

}  // namespace nudge::python
