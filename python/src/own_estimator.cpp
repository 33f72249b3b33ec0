// SPDX-License-Identifier: Apache-2.0
#include "python/src/own_estimator.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <optional>

#include "circuits/circuit_dynamics.hpp"
#include "python/src/bindings.hpp"
#include "python/src/python_calls.hpp"
#include "sim/direct.hpp"
#include "training/learning/estimators/estimator_keys.hpp"

namespace nudge::python {
namespace {

/// Example that estimate(example) gets: the circuit at its free equilibrium. Valid as long as the call lasts.
class OwnExample {
 public:
  virtual ~OwnExample() = default;
  virtual nb::object state() = 0;
  virtual nb::object input() = 0;
  virtual nb::object force(const In<double, 2>& z) = 0;
  virtual nb::object product(bool forward, const In<double, 2>& v) = 0;
  virtual double cost(const In<double, 2>& z) = 0;
  virtual nb::object cost_gradient(const In<double, 2>& z) = 0;
  virtual void correlate(const In<double, 2>& a) = 0;
  virtual void energy_gradient(const In<double, 2>& z, double scale) = 0;
  virtual nb::object hold(const In<double, 2>& values, const In<double, 2>& start) = 0;
  virtual nb::object relax(const nb::object& force, const In<double, 2>& start, int count, double size,
                           bool adjoint) = 0;
  virtual nb::tuple output() = 0;
  virtual nb::object kept() = 0;
  virtual nb::object visited() = 0;
  virtual void keep(const In<double, 2>& values) = 0;

  double beta = 0, step = 0;
  int steps = 0;
  double evaluations = 0;  ///< number of evaluations of the force, and of products
  bool ended = false;
  Status held = Status::converged;  ///< status of the states that hold() and relax() moved
};

template <class S>
class ExampleOf final : public OwnExample {
 public:
  ExampleOf(Example<S>& example, Linearization<S>& at, const EstimatorOptions& options, Index keeps)
      : example_(example), at_(at), options_(options), keeps_(keeps) {
    beta = options.beta;
    step = options.step;
    steps = options.nudged_steps;
  }

  nb::object state() override { return handed<S>(*example_.state); }
  nb::object input() override {
    const auto* circuit = dynamic_cast<const CircuitDynamics<S>*>(example_.dynamics);
    return circuit != nullptr ? handed<S>(circuit->input()) : nb::object(nb::none());
  }
  nb::object force(const In<double, 2>& z) override {
    const Matrix<S> now = matrix(z);
    Matrix<S> f(now.rows(), now.cols());
    ++evaluations;
    const nb::gil_scoped_release computing;
    example_.dynamics->force(now, f);
    return given(f);
  }
  nb::object product(bool forward, const In<double, 2>& v) override {
    const Matrix<S> direction = matrix(v);
    Matrix<S> out(direction.rows(), direction.cols());
    ++evaluations;
    const nb::gil_scoped_release computing;
    forward ? at_.jvp(direction, out) : at_.vjp(direction, out);
    return given(out);
  }
  double cost(const In<double, 2>& z) override {
    const Matrix<S> now = matrix(z);
    const nb::gil_scoped_release computing;
    return example_.cost->value(now);
  }
  nb::object cost_gradient(const In<double, 2>& z) override {
    const Matrix<S> now = matrix(z);
    Matrix<S> out(now.rows(), now.cols());
    const nb::gil_scoped_release computing;
    example_.cost->gradient(now, out);
    return given(out);
  }
  void correlate(const In<double, 2>& a) override {
    const Matrix<S> adjoint = matrix(a);
    const nb::gil_scoped_release computing;
    at_.accumulate_parameter_gradient(adjoint, example_.weight, *example_.sink);
  }
  void energy_gradient(const In<double, 2>& z, double scale) override {
    const Matrix<S> now = matrix(z);
    const nb::gil_scoped_release computing;
    if (!example_.dynamics->accumulate_energy_gradient(now, -static_cast<S>(scale) * example_.weight, *example_.sink)) {
      throw UserError(
          "energy_gradient: the force of this network is not that of an energy whose derivatives by its "
          "parameters are known");
    }
  }
  nb::object hold(const In<double, 2>& values, const In<double, 2>& start) override {
    const Columns out = example_.cost->columns(example_.state->cols());
    if (static_cast<Index>(values.shape(0)) != example_.state->rows() ||
        static_cast<Index>(values.shape(1)) != out.count) {
      throw UserError(fmt::format("hold: values of shape ({}, {}) (must be that of the outputs, ({}, {}))",
                                  values.shape(0), values.shape(1), example_.state->rows(), out.count));
    }
    Matrix<S> z = matrix(start);
    const Matrix<S> value = map_of<double, 2>(values).template cast<S>();
    const nb::gil_scoped_release computing;
    const Status ends = held_at(out, value, z);
    if (ends != Status::converged) held = ends;
    return given(z);
  }
  /// Relaxes from `start` under `force` in `count` steps of `size`; adjoint: the state is an adjoint, in no box.
  nb::object relax(const nb::object& force, const In<double, 2>& start, int count, double size, bool adjoint) override {
    Matrix<S> z = matrix(start);
    GivenForce<S> system(
        *example_.dynamics,
        [&](ConstMatrixRef<S> at, MatrixRef<S> f) {
          const nb::object found = force(handed<S>(Matrix<S>(at)));
          f = taken(found, "the force of relax", at.rows(), at.cols()).template cast<S>();
        },
        !adjoint);
    const Status ends = relax_given<S>(system, options_, count, size, z);
    if (ends != Status::converged) held = ends;
    return handed<S>(z);
  }
  nb::object kept() override {
    return handed<S>(example_.kept != nullptr ? *example_.kept
                                              : Matrix<S>(Matrix<S>::Zero(example_.state->rows(), keeps_)));
  }
  nb::object visited() override {
    Matrix<S> rows = Matrix<S>::Zero(example_.state->rows(), 1);
    for (Index r = 0; example_.visited != nullptr && r < rows.rows(); ++r) {
      rows(r, 0) = (*example_.visited)[static_cast<std::size_t>(r)] != 0 ? S(1) : S(0);
    }
    return handed<S>(rows);
  }
  void keep(const In<double, 2>& values) override {
    if (static_cast<Index>(values.shape(0)) != example_.state->rows() ||
        static_cast<Index>(values.shape(1)) != keeps_) {
      throw UserError(fmt::format("kept: an array of shape ({}, {}) (must be (rows, keeps) = ({}, {}))",
                                  values.shape(0), values.shape(1), example_.state->rows(), keeps_));
    }
    if (example_.kept != nullptr) *example_.kept = map_of<double, 2>(values).template cast<S>();
  }
  nb::tuple output() override {
    const Columns columns = example_.cost->columns(example_.state->cols());
    return nb::make_tuple(columns.begin, columns.end());
  }

 private:
  static nb::object given(const Matrix<S>& out) {
    const nb::gil_scoped_acquire held;
    return handed<S>(out);
  }
  /// Moves z to where the force is 0 except on the outputs, which have this value. A system that solves itself solves
  /// for it; others relax for a nudged phase.
  Status held_at(Columns out, const Matrix<S>& value, Matrix<S>& z) {
    if (Direct<S>* direct = example_.dynamics->direct(); direct != nullptr) {
      example_.dynamics->set_read_timing({step, 0});  // no circuit's way: it takes no time
      ++evaluations;
      return direct->solve(z, {DirectLoad<S>::Kind::held, out, value, S(0)}).status;
    }
    z.middleCols(out.begin, out.count) = value;
    GivenForce<S> system(
        *example_.dynamics,
        [&](ConstMatrixRef<S> at, MatrixRef<S> f) {
          example_.dynamics->force(at, f);
          ++evaluations;
        },
        true, out);
    return relax_given<S>(system, options_, steps, step, z);
  }
  Matrix<S> matrix(const In<double, 2>& z) const {
    if (static_cast<Index>(z.shape(0)) != example_.state->rows() ||
        static_cast<Index>(z.shape(1)) != example_.state->cols()) {
      throw UserError("an estimator handed over an array that does not have the shape of the state, (" +
                      std::to_string(example_.state->rows()) + ", " + std::to_string(example_.state->cols()) + ")");
    }
    return map_of<double, 2>(z).template cast<S>();
  }

  Example<S>& example_;
  Linearization<S>& at_;
  const EstimatorOptions& options_;
  Index keeps_;
};

/// Returns the example of a running call, with the GIL; UserError after the end of the call that it was for.
OwnExample& live(OwnExample* example) {
  if (example == nullptr || example->ended)
    throw UserError("an example of an estimator lasts as long as its estimate()");
  return *example;
}

/// Handle given to Python by value: it outlives the example.
struct Handle {
  std::shared_ptr<OwnExample> example;
  OwnExample* operator->() const { return &live(example.get()); }
};

Nudge nudge_of(const std::string& name) {
  if (name == "none") return Nudge::none;
  if (name == "transposed") return Nudge::transposed;
  if (name == "live") return Nudge::live;
  throw UserError("nudge = \"" + name + "\" of an estimator (must be none, live or transposed)");
}

double nudge_size(const nb::object& object, const char* name) {
  double value = 0;
  if (nb::try_cast<double>(object.attr(name), value) && value > 0 && std::isfinite(value)) return value;
  throw UserError(fmt::format("{} = {} of an estimator (must be a number above 0)", name,
                              nb::cast<std::string>(nb::repr(object.attr(name)))));
}

int count_of(const nb::object& object, const char* name) {
  int count = 0;
  if (nb::try_cast<int>(object.attr(name), count) && count >= 0) return count;
  throw UserError(fmt::format("{} = {} of an estimator (must be a whole number, 0 or more)", name,
                              nb::cast<std::string>(nb::repr(object.attr(name)))));
}

}  // namespace

template <class S>
OwnEstimator<S>::OwnEstimator(const nb::object& object, const EstimatorOptions& options)
    : GradientEstimator<S>(options), object_(object) {
  keeps_ = count_of(object, "keeps");
  matrices_ = count_of(object, "keeps_of_parameters");
}

template <class S>
OwnEstimator<S>::~OwnEstimator() {
  release(object_);
}

template <class S>
SequenceReport OwnEstimator<S>::estimate(Example<S>& example) {
  SequenceReport report;
  Linearization<S>& at = free_.run(example, this->options_.free, report);
  this->point_ = *example.state;
  begin_nudged_reads(example, this->options_);
  const Index rows = example.state->rows(), cols = example.state->cols();
  {
    const nb::gil_scoped_acquire held;
    const auto shown = std::make_shared<ExampleOf<S>>(example, at, this->options_, keeps_);
    const nb::object found = object_.attr("_estimate")(Handle{shown});
    shown->ended = true;
    report.cost_in_forces += shown->evaluations;
    report.nudged = shown->held;
    this->adjoint_.setZero(rows, cols);
    if (found.is_none()) {
      example.cost->accumulate_parameter_gradient(*example.state, example.weight, *example.sink);
      return report;
    }
    this->adjoint_ = taken(found, "estimate", rows, cols).template cast<S>();
  }
  if (this->leave_out(0, report)) return report;
  at.accumulate_parameter_gradient(this->adjoint_, example.weight, *example.sink);
  example.cost->accumulate_parameter_gradient(*example.state, example.weight, *example.sink);
  return report;
}

template <class S>
void OwnEstimator<S>::finish(double before, Matrix<S>& gradient, std::span<Matrix<S>> kept) {
  if (matrices_ == 0) return GradientEstimator<S>::finish(before, gradient, kept);
  const nb::gil_scoped_acquire held;
  nb::list shown;
  for (const Matrix<S>& one : kept) shown.append(handed<S>(one));
  const Index rows = gradient.rows(), cols = gradient.cols();
  const nb::object found = object_.attr("_finish")(handed<S>(gradient), shown, before);
  const auto matrix = [&](std::size_t at) { return taken(found[at], "finish", rows, cols).template cast<S>().eval(); };
  gradient = matrix(0);
  for (std::size_t k = 0; k < kept.size(); ++k) kept[k] = matrix(k + 1);
}

EstimatorKind own_estimator_kind(const nb::object& object) {
  const nb::gil_scoped_acquire held;
  EstimatorKind kind;
  kind.name = own_estimator_name;
  kind.nudge = nudge_of(nb::cast<std::string>(object.attr("nudge")));
  kind.needs = {needs::no_bath};
  kind.keys = estimator_section().rows();  // whichever of them it asks for
  kind.matrices = count_of(object, "keeps_of_parameters");
  if (kind.matrices > 0) {  // it finishes gradients itself
    kind.needs.push_back(needs::summed_gradient);
    std::erase_if(kind.keys, [](const ParamRow& row) { return row.key == "nudge.running_mean"; });
  }
  kind.corrects = kind.leaves_out = true;
  kind.beta_in_float = nudge_size(object, "beta_in_float");
  kind.beta_in_double = nudge_size(object, "beta");
  const nb::object* const lent = &object;  // it lives as long as what it is lent to
  kind.in_float = [lent](const EstimatorOptions& o) {
    const nb::gil_scoped_acquire taking;
    return std::make_unique<OwnEstimator<float>>(*lent, o);
  };
  kind.in_double = [lent](const EstimatorOptions& o) {
    const nb::gil_scoped_acquire taking;
    return std::make_unique<OwnEstimator<double>>(*lent, o);
  };
  return kind;
}

NUDGE_BOTH_PRECISIONS_OF(OwnEstimator)

void bind_own(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Handle>(m, "OwnExample")
      .def_prop_ro("state", [](const Handle& h) { return h->state(); })
      .def_prop_ro("input", [](const Handle& h) { return h->input(); })
      .def_prop_ro("beta", [](const Handle& h) { return h->beta; })
      .def_prop_ro("step", [](const Handle& h) { return h->step; })
      .def_prop_ro("steps", [](const Handle& h) { return h->steps; })
      .def_prop_ro("kept", [](const Handle& h) { return h->kept(); })
      .def_prop_ro("visited", [](const Handle& h) { return h->visited(); })
      .def(
          "keep", [](const Handle& h, const In<double, 2>& values) { h->keep(values); }, "values"_a)
      .def_prop_ro("output", [](const Handle& h) { return h->output(); })
      .def(
          "force", [](const Handle& h, const In<double, 2>& z) { return h->force(z); }, "z"_a)
      .def(
          "jvp", [](const Handle& h, const In<double, 2>& v) { return h->product(true, v); }, "v"_a)
      .def(
          "vjp", [](const Handle& h, const In<double, 2>& u) { return h->product(false, u); }, "u"_a)
      .def(
          "cost", [](const Handle& h, const In<double, 2>& z) { return h->cost(z); }, "z"_a)
      .def(
          "cost_gradient", [](const Handle& h, const In<double, 2>& z) { return h->cost_gradient(z); }, "z"_a)
      .def(
          "correlate", [](const Handle& h, const In<double, 2>& a) { h->correlate(a); }, "a"_a)
      .def(
          "energy_gradient",
          [](const Handle& h, const In<double, 2>& z, double scale) { h->energy_gradient(z, scale); }, "z"_a, "scale"_a)
      .def(
          "hold",
          [](const Handle& h, const In<double, 2>& values, const In<double, 2>& start) {
            return h->hold(values, start);
          },
          "values"_a, "start"_a)
      .def(
          "relax",
          [](const Handle& h, const nb::object& force, const In<double, 2>& start, int steps, double step,
             bool adjoint) { return h->relax(force, start, steps, step, adjoint); },
          "force"_a, "start"_a, "steps"_a, "step"_a, "adjoint"_a);
}

}  // namespace nudge::python
