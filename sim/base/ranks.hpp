// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace nudge {

// The processes that an MPI launcher (mpirun, srun) started together, called ranks; this process alone without a launcher.
// Only the thread that called join_ranks() may call the others.

/// Number of processes that the launcher says it started; 1 without a launcher. Needs no join_ranks().
int launched_ranks();

/// Joins the ranks of the launcher. UserError if several were started and the program is built without MPI. Call it after
/// watch_interrupts(), because MPI's own threads must not take those signals.
void join_ranks();

int rank_count();  ///< 1 before join_ranks()
int this_rank();   ///< rank of this process; rank 0 writes files and prints

/// Message received from another rank.
struct RankMessage {
  int from = 0;
  std::string bytes;
};
void send_to(int rank, const std::string& bytes);
std::optional<RankMessage> next_message();  ///< nothing if no message is waiting

/// Copies the root's bytes to all ranks. All ranks call it at the same place.
void broadcast(std::string& bytes, int root = 0);
/// Copies the root's bytes to all ranks, which know their number already. All ranks call it at the same place.
void broadcast_block(std::span<std::byte> bytes, int root);

/// True if `mine` is true on any rank. All ranks call it at the same place.
bool any_rank(bool mine);

/// Send and receive bytes whose number both sides know, apart from messages: wait until the other rank takes or gives them.
void send_block(int rank, std::span<const std::byte> bytes);
void receive_block(int rank, std::span<std::byte> bytes);

/// Ends the use of MPI after waiting for the other ranks. Does nothing without join_ranks().
void leave_ranks();

/// Ends all ranks at once with this exit code; returns only without join_ranks().
void end_all_ranks(int code);

}  // namespace nudge
