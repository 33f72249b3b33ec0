// SPDX-License-Identifier: Apache-2.0
#include "python/src/own_system.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "python/src/python_calls.hpp"
#include "sim/base/errors.hpp"
#include "sim/failure.hpp"

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
/// all rows of a state, one for a single row.
template <class S>
class OwnTerm<S>::System : public TermSystem<S> {
 public:
  System(const OwnTerm& term, Index rows) : term_(&term), rows_(rows), link_(std::make_shared<System*>(this)) {
    const nb::gil_scoped_acquire held;
    object_ = term.system_->copy();
    object_.attr("rows") = rows;
    single_ = term.system_->copy();
    single_.attr("rows") = 1;
    arrays_ = array_reads();
    elements_.resize(term.maps_.size());
  }
  ~System() override {
    *link_ = nullptr;
    const nb::gil_scoped_acquire held;
    object_.reset();
    single_.reset();
    arrays_.clear();
    elements_.clear();
  }

  void bind(const Matrix<S>& input) override {
    input_ = input;
    by_rows_ = false;
    for (ReadMemory& one : memories_) one.clear();
    const nb::gil_scoped_acquire held;
    object_.attr("input") = handed<S>(input);
    nb::dict seen;
    for (std::size_t p = 0; p < arrays_.size(); ++p) {
      const OwnParameter& own = term_->system_->parameters[p];
      const LinearMap<S>& map = *term_->maps_[p];
      elements_[p].reset();
      seen[own.name.c_str()] =
          map.plain() ? array_of<double>(Matrix<double>(map.weights().template cast<double>()), own.shape) : arrays_[p];
    }
    object_.attr("parameters") = seen;
    single_.attr("parameters") = seen;
  }

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
             ReadContext& read) override {
    if (has(part)) call("force", false, z, S(1), f, read);
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& read) override {
    point_ = z;
    at_point_.clear();
    Exactly noting(*this, Exact::noted);
    call("force", false, z, S(1), term_->system_->conservative ? conservative : rest, read);
  }

  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) override {
    Exactly derived(*this, Exact::derivative);
    if (has(part)) call("jvp", true, v, scale, f, read);
  }
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override {
    Exactly derived(*this, Exact::derivative);
    if (has(part)) call("vjp", true, u, S(1), f, read);
  }

  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient, MatrixRef<S> f,
                  ReadContext& read) override {
    const Matrix<S> direction = u;  // f may be u
    if (input_gradient.size() > 0) throw UserError("network.kind = own: no gradient of its input is known");
    {
      Exactly derived(*this, Exact::derivative);
      const nb::gil_scoped_acquire held;
      each(
          direction, read,
          [&](const nb::object& object, ConstMatrixRef<S> point, ConstMatrixRef<S> one) -> nb::object {
            return object.attr("_correlate")(at_.of<S>(point), given_.of<S>(one));
          },
          [&](const nb::object& found, Index, Index) { add(found, scale, sink); });
    }
    if (f.size() > 0) vjp(direction, f, Part::all, read);
  }

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& /*read*/) override {
    if (!term_->system_->conservative) return std::nullopt;
    const nb::gil_scoped_acquire held;
    const double leak = 0.5 * term_->system_->leak * z.template cast<double>().squaredNorm();
    return nb::cast<double>(nb::float_(quietly("energy", given_.of<S>(z)))) - leak;
  }

  bool accumulate_energy_gradient(ConstMatrixRef<S> z, std::span<const S> scales, GradientSink<S>& sink,
                                  ReadContext& read) override {
    if (!term_->system_->contrastive) return false;
    const nb::gil_scoped_acquire held;
    each(
        z, read,
        [&](const nb::object& object, ConstMatrixRef<S> /*point*/, ConstMatrixRef<S> one) -> nb::object {
          return object.attr("_contrast")(given_.of<S>(one));
        },
        [&](const nb::object& found, Index row, Index) {
          add(found, -scales[static_cast<std::size_t>(row / rows_)], sink);
        });
    return true;
  }

 protected:
  /// Calls a method of the object that needs no more than its parameters, which are read without noise. With the GIL.
  template <class... Arguments>
  nb::object quietly(const char* method, const Arguments&... arguments) {
    ReadContext quiet;
    quiet.policy = ReadPolicy::all_ideal();
    quiet.kind = ReadClass::monitor;
    const Call now(*this, quiet, rows_);
    return object_.attr(method)(arguments...);
  }
  Matrix<S> point_;

 private:
  bool has(Part part) const {
    return part == Part::all || (part == Part::conservative) == term_->system_->conservative;
  }

  /// Adds f += scale (method(x) + L x), or of method(z, x) with the point z.
  void call(const char* method, bool at_point, ConstMatrixRef<S> x, S scale, MatrixRef<S> f, ReadContext& read) {
    const nb::gil_scoped_acquire held;
    const auto leak = static_cast<S>(term_->system_->leak);
    each(
        x, read,
        [&](const nb::object& object, ConstMatrixRef<S> point, ConstMatrixRef<S> one) -> nb::object {
          const nb::object bound = object.attr(method);
          const nb::object given = given_.of<S>(one);
          return at_point ? bound(at_.of<S>(point), given) : bound(given);
        },
        [&](const nb::object& found, Index row, Index rows) {
          f.middleRows(row, rows) +=
              scale * (taken(found, method, rows, x.cols()).template cast<S>() + leak * x.middleRows(row, rows));
        });
  }

  /// How products are made where derivatives are computed and not read (ReadContext::exact): as reads, as reads that are noted
  /// at the point z, or, of drives that were not noted there, as derivatives of reads at rest. A jvp is linear in its
  /// direction, offsets of amplifiers are not.
  enum class Exact { read, noted, derivative };
  class Exactly {
   public:
    Exactly(System& system, Exact how) : system_(system), before_(std::exchange(system.exact_, how)) {}
    ~Exactly() { system_.exact_ = before_; }
    Exactly(const Exactly&) = delete;
    Exactly& operator=(const Exactly&) = delete;

   private:
    System& system_;
    Exact before_;
  };
  struct Noted {
    std::size_t parameter;
    bool transposed;
    Matrix<S> drive, out;
  };

  /// A call of a method that goes on while this lives: how its parameters are read, and of how many rows. `place`: of what
  /// noise that lasts from read to read is; 0 is that of `read`.
  class Call {
   public:
    Call(System& system, ReadContext& read, Index rows, std::size_t place = 0)
        : system_(system), read_(read), own_(read) {
      if (place > 0 && read.memory != nullptr) {
        while (system.memories_.size() < place) system.memories_.emplace_back();
        own_.memory = &system.memories_[place - 1];
      }
      system.read_ = &own_;
      system.rows_now_ = rows;
    }
    ~Call() {
      read_.read = own_.read;
      system_.read_ = nullptr;
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    System& system_;
    ReadContext& read_;
    ReadContext own_;
  };

  /// Calls ask(object, rows of the point z, rows of x), copy by copy, and take(what it returned, the first row, rows).
  /// Where a call takes noisy elements, which would be the same for all of its rows, it is made again row by row, and so
  /// are those that follow in the example: every row that drives an array has noise of its own. With the GIL.
  template <class Ask, class Take>
  void each(ConstMatrixRef<S> x, ReadContext& read, const Ask& ask, const Take& take) {
    // Of an energy there is no point.
    const auto point = [this](Index begin, Index count) {
      return point_.rows() > 0 ? point_.middleRows(begin, count) : point_.topRows(0);
    };
    for (Index row = 0; row < x.rows(); row += rows_) {
      if (!by_rows_) {
        const ReadMeter before = read.meter != nullptr ? *read.meter : ReadMeter{};
        std::optional<ArrayUse> used;
        if (rows_ > 1 && read.noisy() && read.use != nullptr) used = *read.use;
        const Call now(*this, read, rows_, static_cast<std::size_t>(row / rows_));
        const nb::object found = ask(object_, point(0, rows_), x.middleRows(row, rows_));
        if (!by_rows_) {
          take(found, row, rows_);
          continue;
        }
        if (read.meter != nullptr) *read.meter = before;
        if (used) *read.use = *used;
      }
      for (Index sample = 0; sample < rows_; ++sample) {
        single_.attr("input") = handed<S>(input_.middleRows(sample, 1));
        const Call now(*this, read, 1, static_cast<std::size_t>(row + sample));
        take(ask(single_, point(sample, 1), x.middleRows(row + sample, 1)), row + sample, 1);
      }
    }
  }

  /// Makes what the methods see of each array (nudge.dynamics.ArrayRead). With the GIL.
  std::vector<nb::object> array_reads() const {
    const nb::object make = nb::module_::import_("nudge.dynamics").attr("ArrayRead");
    std::vector<nb::object> all(term_->maps_.size());
    for (std::size_t p = 0; p < all.size(); ++p) {
      if (term_->maps_[p]->plain()) continue;
      const auto there = [link = link_]() -> System& {
        if (*link != nullptr && (*link)->read_ != nullptr) return **link;
        throw UserError("a parameter on devices is read within the call that it was given to (keep an array of it)");
      };
      all[p] = make(nb::tuple(nb::cast(term_->system_->parameters[p].shape)),
                    nb::cpp_function([there, p](bool transposed, const In<double, 2>& x) {
                      return there().product(p, transposed, x);
                    }),
                    nb::cpp_function([there, p] { return there().elements(p); }),
                    nb::cpp_function([there] { return there().rows_now_; }));
    }
    return all;
  }

  /// x W, or x Wᵀ, by a read of the array.
  nb::object product(std::size_t p, bool transposed, const In<double, 2>& x) {
    const LinearMap<S>& map = *term_->maps_[p];
    const Matrix<S> drive = map_of<double, 2>(x).template cast<S>();
    if (drive.cols() != (transposed ? map.outputs() : map.inputs())) {
      throw UserError(fmt::format("{}: driven by rows of {} numbers (must be {})", term_->system_->parameters[p].name,
                                  drive.cols(), transposed ? map.outputs() : map.inputs()));
    }
    Matrix<S> out(drive.rows(), transposed ? map.inputs() : map.outputs());
    const ReadDirection way = transposed ? ReadDirection::transposed : ReadDirection::forward;
    if (read_->exact && exact_ == Exact::derivative) {
      for (const Noted& one : at_point_) {
        if (one.parameter == p && one.transposed == transposed && one.drive.rows() == drive.rows() &&
            one.drive == drive) {
          return handed<S>(one.out);
        }
      }
      const nb::gil_scoped_release computing;
      map.derivative(way, Derivative::jvp, Matrix<S>::Zero(drive.rows(), drive.cols()), drive, out, map.all_columns(),
                     Store::assign, *read_);
    } else {
      const nb::gil_scoped_release computing;
      map.read(way, drive, out, map.all_columns(), Store::assign, *read_);
    }
    if (read_->exact && exact_ == Exact::noted) at_point_.push_back({p, transposed, drive, out});
    return handed<S>(out);
  }

  /// Says once, at the line of the caller, what costs time: Python's default filter shows a warning of one place once.
  static void warn_of_rows(const std::string& name) {
    const std::string text = fmt::format(
        "'{}' is on noisy devices and read element by element, so methods are called once per row, which is slow. Write "
        "products (x @ w, y @ w.T), one read of the array each",
        name);
    if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 2) < 0) throw nb::python_error();
  }

  /// Every element of an array by itself, by a drive of 1 on its line alone: once for an example, or anew if reads are noisy.
  nb::object elements(std::size_t p) {
    const LinearMap<S>& map = *term_->maps_[p];
    const bool noisy = read_->noisy() && map.noisy();
    if (noisy && rows_now_ > 1) {
      by_rows_ = true;
      warn_of_rows(term_->system_->parameters[p].name);
    }
    if (!noisy && elements_[p].is_valid()) return elements_[p];
    const Matrix<S> lines = Matrix<S>::Identity(map.inputs(), map.inputs());
    Matrix<S> found(map.inputs(), map.outputs());
    map.forward(lines, found, map.all_columns(), Store::assign, *read_);
    const nb::object array =
        array_of<double>(Matrix<double>(found.template cast<double>()), term_->system_->parameters[p].shape);
    if (!noisy) elements_[p] = array;
    return array;
  }

  /// Adds gradients in the order of the parameters, of any shape. An array of devices takes outer products: a matrix is
  /// the outer product of 1 with it.
  void add(const nb::object& gradients, S scale, GradientSink<S>& sink) const {
    std::size_t p = 0;
    for (const nb::handle one : gradients) {
      const ParameterShape shape = term_->system_->parameters[p].matrix;
      const Matrix<S> g =
          taken(nb::borrow<nb::object>(one), "parameter_gradient", shape.rows, shape.cols).template cast<S>();
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
  std::shared_ptr<System*> link_;  ///< for what Python may keep longer than this lives
  nb::object object_, single_;
  std::vector<nb::object> arrays_, elements_;  ///< of parameters on devices; their elements, where they were read
  ReadContext* read_ = nullptr;                ///< of the call that goes on
  Index rows_now_ = 0;                         ///< its rows
  bool by_rows_ = false;
  Exact exact_ = Exact::read;
  std::vector<Noted> at_point_;      ///< products of the force at z, where derivatives are computed
  std::deque<ReadMemory> memories_;  ///< of copies, or rows, but the first
  Matrix<S> input_;
  InTurn given_, at_;
};

/// System that solves itself: its states are measured on a board, or computed, by methods that answer (state, what failed).
template <class S>
class OwnTerm<S>::Solved final : public System, public Direct<S>, public TellsFailure {
 public:
  using System::System;

  DirectResult solve(MatrixRef<S> z, const DirectLoad<S>& load) override {
    const nb::gil_scoped_acquire gil;
    const bool none = load.kind == DirectLoad<S>::Kind::none, held = load.kind == DirectLoad<S>::Kind::held;
    const nb::object value = none ? nb::object(nb::none()) : handed<S>(load.value);
    return found(this->quietly("_solve", handed<S>(z), value, static_cast<double>(load.load), held, load.settled), z);
  }
  DirectResult solve_transposed(ConstMatrixRef<S> c, MatrixRef<S> a) override {
    const nb::gil_scoped_acquire gil;
    return found(this->quietly("_solve_transposed", handed<S>(this->point_), handed<S>(c)), a);
  }
  DirectResult respond(ConstMatrixRef<S>, double, MatrixRef<S>) override {
    throw UserError("estimator: a system that solves itself has no response to alternating nudges");
  }
  std::string failure() const override { return failure_; }

 private:
  DirectResult found(const nb::object& answer, MatrixRef<S> out) {
    failure_ = nb::cast<std::string>(answer[1]);
    if (!failure_.empty()) {
      out.setConstant(std::numeric_limits<S>::quiet_NaN());
      return {Status::stalled, 1};
    }
    out = taken(nb::object(answer[0]), "solve", out.rows(), out.cols()).template cast<S>();
    return {Status::converged, 1};
  }

  std::string failure_;
};

template <class S>
std::unique_ptr<TermSystem<S>> OwnTerm<S>::make_system(Index rows, Index /*max_copies*/) const {
  if (system_->solves) return std::make_unique<Solved>(*this, rows);
  return std::make_unique<System>(*this, rows);
}

NUDGE_BOTH_PRECISIONS_OF(OwnTerm)

}  // namespace nudge::python
