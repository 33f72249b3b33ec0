// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace nudge {

// The processes that an MPI launcher (mpirun, srun) started together, called ranks; this process alone without a launcher.
// Only the thread that called join_ranks() may call the others.

/// How many processes the launcher says it started; 1 without one. Needs no join_ranks().
int launched_ranks();

/// Joins them. UserError when several were started and the program is built without MPI. To be called after
/// watch_interrupts(), whose signals MPI's own threads must not take.
void join_ranks();

int rank_count();  ///< 1 before join_ranks()
int this_rank();   ///< 0: the one that writes files and prints

/// What another rank sent.
struct RankMessage {
  int from = 0;
  std::string bytes;
};
void send_to(int rank, const std::string& bytes);
std::optional<RankMessage> next_message();  ///< nothing: none is waiting

/// The root's bytes become everybody's. Called by all ranks at the same place.
void broadcast(std::string& bytes, int root = 0);
/// The same for bytes whose number all ranks know.
void broadcast_block(std::span<std::byte> bytes, int root);

/// Whether any rank says so. Called by all ranks at the same place.
bool any_rank(bool mine);

/// Bytes whose number both sides know, apart from messages: waits until the other rank takes or gives them.
void send_block(int rank, std::span<const std::byte> bytes);
void receive_block(int rank, std::span<std::byte> bytes);

/// The end: waits for the others. Does nothing without join_ranks().
void leave_ranks();

/// Ends all ranks at once with this exit code; returns only without join_ranks().
void end_all_ranks(int code);

}  // namespace nudge
