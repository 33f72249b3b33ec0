// SPDX-License-Identifier: Apache-2.0
#include "circuits/wires/wire_watch.hpp"

#include <utility>

namespace nudge {
namespace {

thread_local const WireWatch* innermost = nullptr;

}  // namespace

WireWatch::WireWatch(Told told) : told_(std::move(told)), outer_(innermost) { innermost = this; }

WireWatch::~WireWatch() { innermost = outer_; }

const WireWatch* WireWatch::current() { return innermost; }

void WireWatch::tell(Index done, Index total) {
  if (innermost != nullptr) innermost->hear(done, total);
}

}  // namespace nudge
