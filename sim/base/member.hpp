// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace nudge {

namespace detail {
struct MemberPlace {
  std::uintptr_t begin;
  std::size_t size;
};
}  // namespace detail

/// A member of a struct T, or a member of a member, whatever its type: Member<T>(&T::a), Member<T>(&T::a, &A::b).
template <class T>
class Member {
 public:
  template <class M, class... Path>
  Member(M T::*first, Path... path)  // NOLINT(google-explicit-constructor): lists of members
      : place_([first, path...](const T& whole) {
          const auto& part = ((whole.*first).*....*path);
          return detail::MemberPlace{reinterpret_cast<std::uintptr_t>(&part), sizeof part};
        }) {}

  /// The member of an Outer that has a T at the end of `path`.
  template <class Outer, class... Path>
  Member<Outer> within(Path... path) const {
    return Member<Outer>([inner = place_, path...](const Outer& whole) { return inner((whole.*....*path)); });
  }

  /// True if `other` is this member or a part of it.
  bool holds(const Member& other) const {
    static const T example{};
    const Place own = place_(example), its = other.place_(example);
    return its.begin >= own.begin && its.begin + its.size <= own.begin + own.size;
  }

 private:
  template <class>
  friend class Member;
  using Place = detail::MemberPlace;
  explicit Member(std::function<Place(const T&)> place) : place_(std::move(place)) {}

  std::function<Place(const T&)> place_;
};

}  // namespace nudge
