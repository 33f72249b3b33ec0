// SPDX-License-Identifier: Apache-2.0
// The only source that knows MPI.
#include <mpi.h>

#include <cstdint>

#include "sim/base/errors.hpp"
#include "sim/base/ranks.hpp"

namespace nudge {
namespace {

bool joined = false;
int count = 1;
int rank = 0;

}  // namespace

void join_ranks() {
  if (joined || launched_ranks() < 2) return;
  int given = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS || given < MPI_THREAD_FUNNELED) {
    throw UserError("MPI does not start with threads beside the one that calls it (MPI_THREAD_FUNNELED)");
  }
  joined = true;
  MPI_Comm_size(MPI_COMM_WORLD, &count);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

int rank_count() { return count; }
int this_rank() { return rank; }

void send_to(int to, const std::string& bytes) {
  MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, 0, MPI_COMM_WORLD);
}

// Asked for and not waited for: a waiting call of Open MPI keeps its core busy, which a computing thread could use.
std::optional<RankMessage> next_message() {
  int waiting = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &waiting, &status);
  if (waiting == 0) return std::nullopt;
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  RankMessage message{status.MPI_SOURCE, std::string(static_cast<std::size_t>(size), '\0')};
  MPI_Recv(message.bytes.data(), size, MPI_BYTE, message.from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return message;
}

void broadcast(std::string& bytes) {
  if (count == 1) return;
  auto size = static_cast<std::uint64_t>(bytes.size());
  MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  bytes.resize(size);
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 30;  // counts of MPI are int
  for (std::uint64_t at = 0; at < size; at += kPiece) {
    const std::uint64_t n = size - at < kPiece ? size - at : kPiece;
    MPI_Bcast(bytes.data() + at, static_cast<int>(n), MPI_BYTE, 0, MPI_COMM_WORLD);
  }
}

void leave_ranks() {
  if (joined) MPI_Finalize();
  joined = false;
}

void end_all_ranks(int code) {
  if (joined) MPI_Abort(MPI_COMM_WORLD, code);
}

}  // namespace nudge
