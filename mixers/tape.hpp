// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sim/base/matrix.hpp"
#include "sim/base/product.hpp"
#include "sim/weight_reader.hpp"

namespace nudge {

template <class S>
class Tape;

/// Matrix on a tape: a leaf or the result of an operation. Copies refer to the same matrix.
template <class S>
struct Value {
  Tape<S>* tape = nullptr;
  int id = -1;

  const Matrix<S>& matrix() const { return tape->matrix(*this); }
  Index rows() const { return matrix().rows(); }
  Index cols() const { return matrix().cols(); }
};

template <class S>
using Arguments = std::span<const Matrix<S>* const>;  ///< one pointer per argument

/// Cotangent of an argument, in which contributions add up; null if it is not wanted. Used like a pointer to a matrix: the first use
/// sets the matrix to zero if it has no content yet. An operation that writes the whole matrix at once can save that by add() or take().
template <class S>
class Cotangent {
 public:
  Cotangent() = default;
  Cotangent(Matrix<S>& sum, bool empty) : sum_(&sum), empty_(empty) {}

  bool operator==(std::nullptr_t) const { return sum_ == nullptr; }
  bool refers_to(const Matrix<S>& matrix) const { return sum_ == &matrix; }

  Matrix<S>& operator*() {
    if (empty_) sum_->setZero();
    empty_ = false;
    return *sum_;
  }
  Matrix<S>* operator->() { return &**this; }

  /// Adds a whole matrix.
  template <class Expression>
  void add(const Expression& expression) {
    if (take() == Store::assign) {
      *sum_ = expression;
    } else {
      *sum_ += expression;
    }
  }
  /// Store by which the caller must now write the whole matrix: assign if it has no content yet, else add.
  Store take() {
    const Store store = empty_ ? Store::assign : Store::add;
    empty_ = false;
    return store;
  }

 private:
  Matrix<S>* sum_ = nullptr;
  bool empty_ = false;
};

template <class S>
using Cotangents = std::span<Cotangent<S>>;

/// Differentiable step y = f(x_0, x_1, ...), with its value and both products of its Jacobian in one place.
template <class S>
class Operation {
 public:
  virtual ~Operation() = default;

  virtual std::string_view name() const = 0;

  /// Computes y = f(x); sizes y, and may keep what the derivatives need. Called again when the tape is run again.
  virtual void forward(Arguments<S> x, Matrix<S>& y) = 0;

  /// Computes dy = Σ_k ∂f/∂x_k dx_k, at the x of the last forward(); a null dx_k is zero. dy has the shape of y, contents undefined.
  virtual void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const = 0;

  /// Adds (∂f/∂x_k)ᵀ dy to every dx_k that is not null.
  virtual void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const = 0;

  /// Digital operations of one evaluation: a product and an addition each. Elementwise unless an operation says otherwise; a
  /// read counts as none.
  virtual double operations(Arguments<S> /*x*/, const Matrix<S>& y) const { return static_cast<double>(y.size()); }

  /// True if argument k may be weights that are read (Tape::weights). Then x_k is their nominal matrix, which must not be
  /// used as a number. A dx_k of vjp() only says that their gradient is wanted (an empty matrix), and jvp() gets none.
  virtual bool reads(std::size_t /*argument*/) const { return false; }
};

/// Leaves that a derivative is about.
enum class Leaves : std::uint8_t { none = 0, inputs = 1, parameters = 2, all = 3 };

/// Computation recorded as it runs: matrices and the operations between them, for one sequence (a batch is several tapes).
/// Code that was written once as a forward computation gets its Jacobian both ways:
///   set_tangent(leaf, d); push_forward(); tangent(y)          dy = J d
///   set_cotangent(y, u);  pull_back();    cotangent(leaf)     Jᵀ u
/// The graph does not depend on the numbers: run() evaluates it again after leaves have changed, without allocating. Not
/// thread-safe: one tape per thread.
template <class S>
class Tape {
 public:
  Tape() = default;
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Makes a leaf that the tape owns.
  Value<S> input(Matrix<S> value);
  /// Makes a leaf that refers to a matrix of the caller, which must outlive the tape.
  Value<S> parameter(const Matrix<S>& value);
  /// Makes a leaf of weights that devices hold: `nominal` gives shape and noise-free values, and products with them go through the
  /// reader. Both must outlive the tape. Such a leaf allows only product(x, weights), product_nt(x, weights) and rows(weights, ...),
  /// which is another such leaf. It has no tangent, and its cotangent stays empty: its gradient goes to the owner of the reader.
  Value<S> weights(const Matrix<S>& nominal, WeightReader<S>& reader);
  /// Makes a leaf of rows [first, first + count) of weights(), of the same kind.
  Value<S> weight_rows(Value<S> weights, Index first, Index count);
  /// Rows of the reader's matrix that a leaf stands for.
  WeightPart part(Value<S> value) const;
  /// Makes a matrix without derivative.
  Value<S> constant(Matrix<S> value);
  /// Evaluates the operation and records it.
  Value<S> record(std::unique_ptr<Operation<S>> operation, std::initializer_list<Value<S>> arguments);
  Value<S> record(std::unique_ptr<Operation<S>> operation, std::span<const Value<S>> arguments);

  const Matrix<S>& matrix(Value<S> value) const;
  /// Reader of weights(); null for any other value.
  WeightReader<S>* reader(Value<S> value) const;
  /// Contents of an input or constant, to be changed (not resized) before run().
  Matrix<S>& leaf(Value<S> value);
  /// Evaluates every operation again.
  void run();

  void clear_tangents();
  void set_tangent(Value<S> value, const Matrix<S>& tangent);
  void push_forward();
  /// Tangent of a value; empty (0 x 0) if it is zero.
  const Matrix<S>& tangent(Value<S> value) const;

  /// Clears cotangents before another pull_back(). Cotangents of the kept leaves stay, so that several runs add up in
  /// them.
  void clear_cotangents(Leaves kept = Leaves::none);
  /// Adds to the cotangent of a value.
  void add_cotangent(Value<S> value, const Matrix<S>& cotangent);
  void pull_back(Leaves wanted = Leaves::all);
  /// Cotangent of a value; empty (0 x 0) if nothing arrived.
  const Matrix<S>& cotangent(Value<S> value) const;
  /// Exchanges the cotangent with `out`, which has its size; `out` is zero if nothing arrived. Afterwards nothing has arrived.
  void take_cotangent(Value<S> value, Matrix<S>& out);

  std::size_t size() const { return nodes_.size(); }
  /// Digital operations of one run(); a derivative takes about as many per operand.
  double operations() const;

 private:
  struct Node {
    std::unique_ptr<Operation<S>> operation;  ///< null for leaves
    std::vector<int> arguments;
    Matrix<S> value;
    const Matrix<S>* external = nullptr;
    WeightReader<S>* reader = nullptr;
    Index first_row = 0;       ///< first row in the reader's matrix
    std::uint8_t depends = 0;  ///< kinds of leaves below (Leaves as bits)
    bool has_tangent = false;
    bool has_cotangent = false;
    Matrix<S> tangent;
    Matrix<S> cotangent;

    const Matrix<S>& matrix() const { return external != nullptr ? *external : value; }
  };

  Value<S> add(Node node);
  Node& node(Value<S> value);
  const Node& node(Value<S> value) const;
  void evaluate(Node& node);

  std::deque<Node> nodes_;
  std::vector<const Matrix<S>*> arguments_, tangents_;
  std::vector<Cotangent<S>> cotangents_;
  Matrix<S> empty_;
};

}  // namespace nudge
