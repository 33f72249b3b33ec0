// SPDX-License-Identifier: Apache-2.0
// The only source that knows MPI.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "sim/base/errors.hpp"
#include "sim/base/ranks.hpp"

namespace nudge {
namespace {

bool joined = false;
int count = 1;
int rank = 0;

/// Waits without keeping the core busy for long: another rank or a thread may need it. Most blocks come within the first
/// looks where every rank has a core to itself.
void wait_for(MPI_Request request) {
  constexpr int kLooks = 1000;  // some 100 us
  int done = 0;
  for (int look = 0;; ++look) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done != 0) return;
    if (look >= kLooks) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

constexpr int kBlock = 1;  ///< tag of blocks; messages have 0

/// Runs an action on pieces of the bytes, because counts of MPI are int.
template <class Bytes, class Action>
void in_pieces(Bytes bytes, const Action& action) {
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kPiece, bytes.size()))) {
    action(bytes.data(), static_cast<int>(std::min(kPiece, bytes.size())));
  }
}

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

void broadcast_block(std::span<std::byte> bytes, int root) {
  if (count == 1) return;
  in_pieces(bytes, [root](std::byte* at, int n) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(at, n, MPI_BYTE, root, MPI_COMM_WORLD, &request);
    wait_for(request);
  });
}

void broadcast(std::string& bytes, int root) {
  if (count == 1) return;
  auto size = static_cast<std::uint64_t>(bytes.size());
  broadcast_block(std::as_writable_bytes(std::span(&size, 1)), root);
  bytes.resize(size);
  broadcast_block(std::as_writable_bytes(std::span(bytes)), root);
}

bool any_rank(bool mine) {
  if (count == 1) return mine;
  const int own = mine ? 1 : 0;
  int any = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&own, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
  wait_for(request);
  return any != 0;
}

void send_block(int to, std::span<const std::byte> bytes) {
  in_pieces(bytes, [to](const std::byte* at, int n) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(at, n, MPI_BYTE, to, kBlock, MPI_COMM_WORLD, &request);
    wait_for(request);
  });
}

void receive_block(int from, std::span<std::byte> bytes) {
  in_pieces(bytes, [from](std::byte* at, int n) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(at, n, MPI_BYTE, from, kBlock, MPI_COMM_WORLD, &request);
    wait_for(request);
  });
}

void leave_ranks() {
  if (joined) MPI_Finalize();
  joined = false;
}

void end_all_ranks(int code) {
  if (joined) MPI_Abort(MPI_COMM_WORLD, code);
}

}  // namespace nudge
