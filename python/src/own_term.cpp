// SPDX-License-Identifier: Apache-2.0
#include "python/src/own_term.hpp"

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

/// Of one thread: a copy of the object, whose input and parameters are those of the present example.
template <class S>
class OwnTerm<S>::System final : public TermSystem<S> {
 public:
  System(const OwnTerm& term, Index rows) : term_(&term), rows_(rows) {
    const nb::gil_scoped_acquire held;
    object_ = term.system_->copy();
    object_.attr("rows") = rows;
  }
  ~System() override { release(object_); }

  void bind(const Matrix<S>& input) override {
    seen_ = Seen::nothing;
    input_ = input;
    const nb::gil_scoped_acquire held;
    object_.attr("input") = handed<S>(input);
  }

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
             ReadContext& read) override {
    if (has(part)) call("force", nullptr, z, S(1), f, read);
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& read) override {
    point_ = z;
    call("force", nullptr, z, S(1), term_->system_->conservative ? conservative : rest, read);
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
      see(read);
      add(object_.attr("_correlate")(at_.of<S>(point_), given_.template of<S>(direction)), scale, sink);
    }
    if (f.size() > 0) vjp(direction, f, Part::all, read);
  }

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& read) override {
    if (!term_->system_->conservative) return std::nullopt;
    ReadContext quiet = read;
    quiet.policy = ReadPolicy::all_ideal();
    const nb::gil_scoped_acquire held;
    see(quiet);
    const double leak = 0.5 * term_->system_->leak * z.template cast<double>().squaredNorm();
    return nb::cast<double>(nb::float_(object_.attr("energy")(given_.of<S>(z)))) - leak;
  }

  bool accumulate_energy_gradient(ConstMatrixRef<S> z, std::span<const S> scales, GradientSink<S>& sink,
                                  ReadContext& read) override {
    if (!term_->system_->contrastive) return false;
    const nb::gil_scoped_acquire held;
    see(read);
    for (std::size_t k = 0; k < scales.size(); ++k) {
      const auto state = z.middleRows(static_cast<Index>(k) * rows_, rows_);
      add(object_.attr("_contrast")(given_.of<S>(state)), -scales[k], sink);
    }
    return true;
  }

 private:
  bool has(Part part) const {
    return part == Part::all || (part == Part::conservative) == term_->system_->conservative;
  }

  void product(const char* method, ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) {
    if (has(part)) call(method, &point_, v, scale, f, read);
  }

  /// f += scale (method(x) + L x), or of method(point, x). Rows are independent samples. Without noise a copy of them is one call;
  /// with noise every row of every copy has reads of its own, as on arrays that take one input after the other.
  void call(const char* method, const Matrix<S>* point, ConstMatrixRef<S> x, S scale, MatrixRef<S> f,
            ReadContext& read) {
    const nb::gil_scoped_acquire held;
    const bool noisy = reads_noise(read);
    const Index count = noisy ? 1 : rows_;
    const auto leak = static_cast<S>(term_->system_->leak);
    for (Index row = 0; row < x.rows(); row += count) {
      const Index own = row % rows_;
      see(read);
      if (noisy && rows_ > 1) show_input(own, 1);
      const auto one = x.middleRows(row, count);
      const nb::object given = given_.of<S>(one), bound = object_.attr(method);
      const nb::object found = point == nullptr ? bound(given) : bound(at_.of<S>(point->middleRows(own, count)), given);
      f.middleRows(row, count) += scale * (taken(found, method, count, x.cols()).template cast<S>() + leak * one);
    }
    if (noisy && rows_ > 1) show_input(0, rows_);
  }

  void show_input(Index first, Index count) {
    object_.attr("rows") = count;
    object_.attr("input") = handed<S>(Matrix<S>(input_.middleRows(first, count)));
  }

  bool reads_noise(const ReadContext& read) const {
    return read.noisy() &&
           std::any_of(term_->maps_.begin(), term_->maps_.end(), [](const auto* map) { return map->noisy(); });
  }

  /// What is read of the parameters becomes the object's. With the GIL.
  void see(ReadContext& read) {
    const bool noisy = reads_noise(read);
    if (!noisy && seen_ == Seen::quiet) return;
    seen_ = noisy ? Seen::noise : Seen::quiet;
    nb::dict parameters;
    for (std::size_t p = 0; p < term_->maps_.size(); ++p) {
      const LinearMap<S>& map = *term_->maps_[p];
      const OwnParameter& own = term_->system_->parameters[p];
      parameters[own.name.c_str()] = array_of(seen(map, read), own.shape);
    }
    object_.attr("parameters") = parameters;
  }

  static Matrix<double> seen(const LinearMap<S>& map, ReadContext& read) {
    if (map.plain()) return map.weights().template cast<double>();
    const Matrix<S> lines = Matrix<S>::Identity(map.inputs(), map.inputs());
    Matrix<S> found(map.inputs(), map.outputs());
    map.forward(lines, found, map.all_columns(), Store::assign, read);
    return found.template cast<double>();
  }

  /// Gradients in the order of the parameters, of any shape. An array of devices takes outer products: a matrix is that of 1 with it.
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

  enum class Seen { nothing, quiet, noise };

  const OwnTerm* term_;
  Index rows_;
  nb::object object_;
  Matrix<S> point_, input_;
  Seen seen_ = Seen::nothing;
  InTurn given_, at_;
};

template <class S>
std::unique_ptr<TermSystem<S>> OwnTerm<S>::make_system(Index rows, Index /*max_copies*/) const {
  return std::make_unique<System>(*this, rows);
}

template class OwnTerm<float>;
template class OwnTerm<double>;

}  // namespace nudge::python
