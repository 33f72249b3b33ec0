// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "circuits/terms/layer_energy.hpp"
#include "circuits/terms/term.hpp"

namespace nudge {

/// Array that several terms read one node through, driven once: h = z W, each term with its columns. Weights that share an
/// input are one product and one array; +β and −β share the cached point; a law of the nudged phase drives the array once
/// each way for all of its parts. The founding note's block is one of these, of attention and Hopfield memory.
///
/// It is a change of variables. Its terms are those of a circuit whose state is x = [z | h]: node kState is z (C columns),
/// node kProjections is h. They read h alone. Each acts on z, through weights of its own, or on its columns of h, which then
/// are the drive g that the array sends back through the same devices. With F_x = [f | g] the force is
///     F(z) = f + g Wᵀ,      J v = J_x [v | v W] likewise,      Jᵀ u = (J_xᵀ [u | u W]) · [1 | Wᵀ],
/// and the gradient of W one outer product, z₀ᵀ (J_xᵀ u)_h, for every term, and uᵀ g₀ for terms that return.
template <class S>
class SharedArray final : public Term<S> {
 public:
  static constexpr int kState = 0, kProjections = 1;

  /// Makes the array on columns `at` of the state, node number `node`. `parameter`: the array's number in the network.
  SharedArray(int node, Columns at, int parameter, const LinearMap<S>& input);

  /// Places one more term, T(its columns of x, arguments...), on the next `width` columns of the array; the last term ends
  /// where the array ends. Terms of one kind (conservative or not) must stand together, so that a part is one range of columns.
  template <class T, class... Arguments>
  SharedArray& place(Index width, Arguments&&... arguments) {
    place({width_, width},
          std::make_unique<T>(Columns{at_.count + width_, width}, std::forward<Arguments>(arguments)...));
    return *this;
  }

  struct Placed {
    std::unique_ptr<Term<S>> term;
    Columns columns;  ///< columns of the array
    TermTraits traits;
    bool returns;  ///< true if it acts on its columns of h, not on z
    bool in(Part part) const { return traits.has(part); }
  };

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

  Columns at() const { return at_; }
  const std::vector<Placed>& terms() const { return placed_; }
  const LinearMap<S>& input() const { return *input_; }
  int parameter() const { return parameter_; }
  /// System of term number `term` in a system of this array.
  static const TermSystem<S>& system(const TermSystem<S>& array, std::size_t term);

 private:
  class System;
  void place(Columns columns, std::unique_ptr<Term<S>> term);

  int node_;
  Columns at_;
  Index width_ = 0;
  std::vector<Placed> placed_;
  int parameter_;
  const LinearMap<S>* input_;
};

// Private to shared_array.cpp and shared_array_system.cpp.

/// Array for one thread. The cached point z₀: its projections h₀ in x0_, its returns through the array in y0_, the terms' own
/// caches in their systems.
template <class S>
class SharedArray<S>::System final : public TermSystem<S>, public LayerEnergy<S> {
 public:
  System(const SharedArray& array, Index rows, Index max_copies);

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int node, Store store, ReadContext& read) override;
  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& read) override;
  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) override;
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override;
  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient, MatrixRef<S> f,
                  ReadContext& read) override;
  void swap_point(std::size_t number) override;
  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& read) override;
  void law(NudgedForm form, ConstMatrixRef<S> z, ConstMatrixRef<S> v, NudgedDrive drive, MatrixRef<S> f,
           ReadContext& read) override;
  /// True if all terms return through the array: E is then a function of h = z W alone, and ∂E/∂W = −zᵀ g with g = −∂E/∂h.
  bool has_layer_energy() const override;
  void accumulate_layer_energy(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink, ReadContext& read) override;
  const TermSystem<S>& system(std::size_t term) const { return *systems_.at(term); }

 private:
  template <class Chosen>
  Columns span_of(Chosen chosen) const;
  Columns driven(Part part) const;
  Columns returning(Part part) const;
  auto blank(Index rows, Columns columns);
  void force_of(std::size_t i, ConstMatrixRef<S> x, MatrixRef<S> y, ReadContext& read);
  void drive_of_adjoint(ConstMatrixRef<S> u, Part part, ReadContext& read);
  template <class Ref>
  auto own(Ref&& state) const {
    return state.middleCols(array_->at_.begin, array_->at_.count);
  }
  /// Block of `rows` rows in the terms' view.
  auto top(Matrix<S>& x, Index rows) const { return x.topLeftCorner(rows, columns_); }
  /// Columns of z, and columns of h, in the terms' view.
  template <class Ref>
  auto state(Ref&& x) const {
    return x.leftCols(array_->at_.count);
  }
  template <class Ref>
  auto projections(Ref&& x, Columns columns) const {
    return x.middleCols(array_->at_.count + columns.begin, columns.count);
  }

  struct Kept {
    Matrix<S> z0, y0;
  };

  const SharedArray* array_;
  Index rows_, columns_;
  /// [z | h], a direction [v | v W], and forces [f | g] on them, (copies·rows, C + columns); their rows are stored slightly longer.
  Matrix<S> x_, dx_, y_;
  Matrix<S> z0_, x0_, y0_;
  std::vector<std::unique_ptr<TermSystem<S>>> systems_;
  std::vector<Kept> kept_;
};

}  // namespace nudge
