// SPDX-License-Identifier: Apache-2.0
// A build without MPI: this process is alone.
#include <fmt/format.h>

#include "sim/base/errors.hpp"
#include "sim/base/ranks.hpp"

namespace nudge {

void join_ranks() {
  if (launched_ranks() < 2) return;
  throw UserError(fmt::format(
      "{} processes were started together, and this nudge is built without MPI. Install libopenmpi-dev, configure "
      "and build again, or use sweep --shard",
      launched_ranks()));
}

int rank_count() { return 1; }
int this_rank() { return 0; }
void send_to(int /*rank*/, const std::string& /*bytes*/) { NUDGE_EXPECT(false); }
std::optional<RankMessage> next_message() { return std::nullopt; }
void broadcast(std::string& /*bytes*/, int /*root*/) {}
void broadcast_block(std::span<std::byte> /*bytes*/, int /*root*/) {}
bool any_rank(bool mine) { return mine; }
void send_block(int /*rank*/, std::span<const std::byte> /*bytes*/) { NUDGE_EXPECT(false); }
void receive_block(int /*rank*/, std::span<std::byte> /*bytes*/) { NUDGE_EXPECT(false); }
void leave_ranks() {}
void end_all_ranks(int /*code*/) {}

}  // namespace nudge
