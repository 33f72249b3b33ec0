// SPDX-License-Identifier: Apache-2.0
#include "python/src/own_system.hpp"

#include <algorithm>

#include "python/src/python_calls.hpp"
#include "sim/base/errors.hpp"

namespace nudge::python {

template <class S>
TermTraits OwnTerm<S>::traits() const {
  TermTraits all{.name = "own",
                 .conservative = system_->conservative,
                 .nonconservative = !system_->conservative,
                 .takes_difference = false,
                 .noisy = std::any_of(maps_.begin(), maps_.end(), [](const auto* map) { return map->noisy(); })};
  for (int node = 0; node < nodes_; ++node) {
    all.sources.push_back(node);
    all.targets.push_back(node);
  }
  all.sources.push_back(Term<S>::kInput);
  return all;
}

/// System of one thread: copies of the object, with the input and parameters of the present example. One copy is for
/// all rows of a state, one for a single row, whose reads have noise of their own.
template <class S>
class OwnTerm<S>::System final : public TermSystem<S> {
 public:
  System(const OwnTerm& term, Index rows) : term_(&term), rows_(rows) {
    const nb::gil_scoped_acquire held;
    object_ = term.system_->copy();
    object_.attr("rows") = rows;
    single_ = term.system_->copy();
    single_.attr("rows") = 1;
    reads_ = nb::module_::import_("nudge.dynamics").attr("Reads");
    again_ = nb::cpp_function([this](const std::string& name) { return read_again(name); });
  }
  ~System() override {
    release(reads_);
    release(again_);
    release(object_);
    release(single_);
  }

  void bind(const Matrix<S>& input) override {
    seen_ = false;
    input_ = input;
    const nb::gil_scoped_acquire held;
    object_.attr("input") = handed<S>(input);
  }

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
             ReadContext& read) override {
    if (has(part)) call("force", false, z, S(1), f, read);
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& read) override {
    point_ = z;
    call("force", false, z, S(1), term_->system_->conservative ? conservative : rest, read);
  }

  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) override {
    product("jvp", v, scale, f, part, read);
  }
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override {
    product("vjp", u, S(1), f, part, read);
  }

  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient, MatrixRef<S> f,
                  ReadContext& read) override {
    const Matrix<S> direction = u;  // f may be u
    if (input_gradient.size() > 0) throw UserError("network.kind = own: no gradient of its input is known");
    {
      const nb::gil_scoped_acquire held;
      each(direction, read, [&](const nb::object& object, ConstMatrixRef<S> point, ConstMatrixRef<S> one, Index) {
        add(object.attr("_correlate")(at_.of<S>(point), given_.of<S>(one)), scale, sink);
      });
    }
    if (f.size() > 0) vjp(direction, f, Part::all, read);
  }

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& read) override {
    if (!term_->system_->conservative) return std::nullopt;
    ReadContext quiet = read;
    quiet.policy = ReadPolicy::all_ideal();
    const nb::gil_scoped_acquire held;
    see(quiet);  // the whole state at once
    const double leak = 0.5 * term_->system_->leak * z.template cast<double>().squaredNorm();
    return nb::cast<double>(nb::float_(object_.attr("energy")(given_.of<S>(z)))) - leak;
  }

  bool accumulate_energy_gradient(ConstMatrixRef<S> z, std::span<const S> scales, GradientSink<S>& sink,
                                  ReadContext& read) override {
    if (!term_->system_->contrastive) return false;
    const nb::gil_scoped_acquire held;
    each(z, read, [&](const nb::object& object, ConstMatrixRef<S> /*point*/, ConstMatrixRef<S> one, Index row) {
      add(object.attr("_contrast")(given_.of<S>(one)), -scales[static_cast<std::size_t>(row / rows_)], sink);
    });
    return true;
  }

 private:
  bool has(Part part) const {
    return part == Part::all || (part == Part::conservative) == term_->system_->conservative;
  }

  void product(const char* method, ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) {
    if (has(part)) call(method, true, v, scale, f, read);
  }

  /// Adds f += scale (method(x) + L x), or of method(z, x) with the point z.
  void call(const char* method, bool at_point, ConstMatrixRef<S> x, S scale, MatrixRef<S> f, ReadContext& read) {
    const nb::gil_scoped_acquire held;
    const auto leak = static_cast<S>(term_->system_->leak);
    each(x, read, [&](const nb::object& object, ConstMatrixRef<S> point, ConstMatrixRef<S> one, Index row) {
      const nb::object bound = object.attr(method);
      const nb::object given = given_.of<S>(one);
      const nb::object found = at_point ? bound(at_.of<S>(point), given) : bound(given);
      f.middleRows(row, one.rows()) +=
          scale * (taken(found, method, one.rows(), x.cols()).template cast<S>() + leak * one);
    });
  }

  /// Calls act(object, rows of the point z, rows of x, the first of them), copy by copy. If reads have noise row by
  /// row, calls it for each row with parameters read for that row alone: every row that drives an array has noise of
  /// its own. With the GIL.
  template <class Act>
  void each(ConstMatrixRef<S> x, ReadContext& read, const Act& act) {
    const bool noisy = read.noisy() && std::any_of(term_->maps_.begin(), term_->maps_.end(),
                                                   [](const auto* map) { return map->noisy(); });
    // Of an energy there is no point.
    const auto point = [this](Index begin, Index count) {
      return point_.rows() > 0 ? point_.middleRows(begin, count) : point_.topRows(0);
    };
    if (!noisy) {
      see(read);
      for (Index row = 0; row < x.rows(); row += rows_) act(object_, point(0, rows_), x.middleRows(row, rows_), row);
      return;
    }
    std::vector<Matrix<S>> found;
    for (const auto* map : term_->maps_) found.push_back(read_of(*map, x.rows(), read));
    for (Index row = 0; row < x.rows(); ++row) {
      const Index sample = row % rows_;
      single_.attr("input") = handed<S>(input_.middleRows(sample, 1));
      single_.attr("parameters") = reads_(parameters(found, row), again_);
      present_ = &read;
      act(single_, point(sample, 1), x.middleRows(row, 1), row);
      present_ = nullptr;
    }
  }

  /// Another read of a parameter that the present call has read.
  nb::object read_again(const std::string& name) const {
    for (std::size_t p = 0; p < term_->maps_.size(); ++p) {
      const OwnParameter& own = term_->system_->parameters[p];
      if (own.name != name || present_ == nullptr) continue;
      return array_of<double>(Matrix<double>(read_of(*term_->maps_[p], 1, *present_).template cast<double>()), own.shape);
    }
    throw ContractViolation("read_again of " + name);
  }

  /// Reads the parameters without noise and gives them to the object, once for an example. With the GIL.
  void see(ReadContext& read) {
    if (seen_) return;
    seen_ = true;
    std::vector<Matrix<S>> found;
    for (const auto* map : term_->maps_) found.push_back(read_of(*map, 1, read));
    object_.attr("parameters") = parameters(found, 0);
  }

  /// Reads every element of a map `count` times, one read below the other, made side by side; numbers are read once for
  /// all.
  static Matrix<S> read_of(const LinearMap<S>& map, Index count, ReadContext& read) {
    if (map.plain()) return map.weights();
    const Matrix<S> lines = Matrix<S>::Identity(map.inputs(), map.inputs()).replicate(count, 1);
    Matrix<S> found(lines.rows(), map.outputs());
    map.forward(lines, found, map.all_columns(), Store::assign, read);
    return found;
  }

  /// Makes the dict of parameters of the read `which`.
  nb::dict parameters(const std::vector<Matrix<S>>& found, Index which) const {
    nb::dict all;
    for (std::size_t p = 0; p < found.size(); ++p) {
      const Index inputs = term_->maps_[p]->inputs();
      const Index begin = found[p].rows() > inputs ? which * inputs : 0;
      const OwnParameter& own = term_->system_->parameters[p];
      all[own.name.c_str()] = array_of<double>(found[p].middleRows(begin, inputs).template cast<double>(), own.shape);
    }
    return all;
  }

  /// Adds gradients in the order of the parameters, of any shape. An array of devices takes outer products: a matrix is
  /// the outer product of 1 with it.
  void add(const nb::object& gradients, S scale, GradientSink<S>& sink) const {
    std::size_t p = 0;
    for (const nb::handle one : gradients) {
      const ParameterShape shape = term_->system_->parameters[p].matrix;
      const Matrix<S> g = taken(nb::borrow<nb::object>(one), "parameter_gradient", shape.rows, shape.cols)
                              .template cast<S>();
      const LinearMap<S>& map = *term_->maps_[p];
      if (map.plain()) {
        sink.accumulate(static_cast<int>(p), scale, g);
      } else {
        sink.accumulate(static_cast<int>(p), map.all_columns(), scale, Matrix<S>::Identity(g.rows(), g.rows()), g);
      }
      ++p;
    }
  }

  const OwnTerm* term_;
  Index rows_;
  nb::object object_, single_, reads_, again_;
  ReadContext* present_ = nullptr;  ///< of the call that goes on
  Matrix<S> input_, point_;
  bool seen_ = false;
  InTurn given_, at_;
};

template <class S>
std::unique_ptr<TermSystem<S>> OwnTerm<S>::make_system(Index rows, Index /*max_copies*/) const {
  return std::make_unique<System>(*this, rows);
}

NUDGE_BOTH_PRECISIONS_OF(OwnTerm)

}  // namespace nudge::python
