#include "hw/mpi/mpi_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "hw/mpi/mpi_call.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

// Bytes that travel with the header: as many as Open MPI sends at once through shared memory (4 KiB, with the header).
constexpr std::uint32_t kMaxInline = 3968;
// Headers that may arrive before this process looks.
constexpr std::size_t kSlots = 64;
constexpr int kHeaderTag = 0;
// Requests that a queue of a link has under way. More would only wait in MPI.
constexpr QueueDepth kDepth{64, 64};
// How long the end of a transport waits for messages that cannot be taken back.
constexpr std::chrono::milliseconds kPatience{500};

std::byte* at(std::uint64_t address) { return std::bit_cast<std::byte*>(address); }

}  // namespace

MpiTransport::MpiTransport(Layout const& layout, int rank, std::vector<std::string> const& hosts, MPI_Comm headers,
                           MPI_Comm payloads, MPI_Comm answers)
    : layout_(layout), rank_(rank), hosts_(hosts), headers_(headers), payloads_(payloads), answers_(answers) {
  auto const here =
      static_cast<std::size_t>(std::count(hosts.begin(), hosts.end(), hosts[static_cast<std::size_t>(rank)]));
  shares_cores_ = here >= std::thread::hardware_concurrency();
  int* limit = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found), "MPI_Comm_get_attr");
  tag_limit_ = found != 0 ? static_cast<std::uint32_t>(*limit) : 32767;  // MPI promises as much
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    buffers_->slots.emplace_back(sizeof(Header) + kMaxInline);
    slot_requests_.push_back(MPI_REQUEST_NULL);
    listen(slot);
  }
}

MpiTransport::Messages MpiTransport::end() noexcept {
  auto left = slot_requests_;
  left.insert(left.end(), given_up_.begin(), given_up_.end());
  for (auto const& [of, queue] : queues_) {
    for (auto const& arrival : queue.arriving) left.push_back(arrival.request);
    for (auto const& posted : queue.posted) left.push_back(posted.request);
  }
  for (auto& request : left)
    if (request != MPI_REQUEST_NULL) MPI_Cancel(&request);
  for (auto const& sent : buffers_->outgoing) left.push_back(sent.request);
  auto const until = std::chrono::steady_clock::now() + kPatience;
  bool abandoned = in_barrier_;
  for (auto& request : left)
    while (request != MPI_REQUEST_NULL) {
      int ended = 0;
      if (MPI_Test(&request, &ended, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      if (ended != 0 || std::chrono::steady_clock::now() < until) continue;
      abandoned = true;
      break;
    }
  if (!abandoned) return Messages::Ended;
  // MPI may still read and write them.
  (void)buffers_.release();
  return Messages::Abandoned;
}

int MpiTransport::other_end(LinkId link) const {
  auto const& ranks = layout_.links[index(link)].ranks;
  return ranks[0] == rank_ ? ranks[1] : ranks[0];
}

int MpiTransport::queues(LinkId link) const {
  auto const& spec = layout_.links[index(link)];
  return spec.ranks[0] == rank_ || spec.ranks[1] == rank_ ? spec.queues : 0;
}

QueueDepth MpiTransport::depth(LinkId /*link*/) const { return kDepth; }

std::uint32_t MpiTransport::next_tag() {
  tag_ = tag_ + 1 < tag_limit_ ? tag_ + 1 : 1;
  return tag_;
}

void MpiTransport::listen(std::size_t slot) {
  auto& bytes = buffers_->slots[slot];
  check_mpi(MPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, MPI_ANY_SOURCE, kHeaderTag, headers_,
                      &slot_requests_[slot]),
            "MPI_Irecv");
}

void MpiTransport::send_header(int rank, Header const& header, std::byte const* bytes) {
  auto& sent = buffers_->outgoing.emplace_back();
  sent.bytes.resize(sizeof header + (header.is_inline != 0 ? header.bytes : 0));
  std::memcpy(sent.bytes.data(), &header, sizeof header);
  if (header.is_inline != 0 && header.bytes > 0) std::memcpy(sent.bytes.data() + sizeof header, bytes, header.bytes);
  check_mpi(MPI_Isend(sent.bytes.data(), static_cast<int>(sent.bytes.size()), MPI_BYTE, rank, kHeaderTag, headers_,
                      &sent.request),
            "MPI_Isend");
}

void MpiTransport::post(LinkId link, int queue, WorkRequest const& request) {
  auto const other = other_end(link);
  Header header;
  header.kind = request.verb == Verb::Read ? Kind::Read : request.verb == Verb::Send ? Kind::Send : Kind::Write;
  header.link = static_cast<std::uint32_t>(index(link));
  header.queue = static_cast<std::uint32_t>(queue);
  header.bytes = request.bytes;
  header.has_immediate = request.immediate ? 1 : 0;
  header.immediate = request.immediate.value_or(0);
  header.is_acknowledged = request.signalled ? 1 : 0;
  header.address = request.remote;
  header.number = request.number;
  Posted posted{request.number, request.signalled, request.verb == Verb::Read, false, MPI_REQUEST_NULL, request.bytes};
  // A write that nobody waits for needs no answer: the next that is acknowledged comes behind it.
  posted.is_done = !posted.is_read && !request.signalled;
  auto const bytes = static_cast<int>(request.bytes);
  if (posted.is_read) {
    header.tag = next_tag();
    check_mpi(MPI_Irecv(request.local, bytes, MPI_BYTE, other, static_cast<int>(header.tag), answers_, &posted.request),
              "MPI_Irecv");
    send_header(other, header, nullptr);
  } else {
    bool const by_core = request.local_key != kGpuMemoryKey && request.remote_key != kGpuMemoryKey;
    header.is_inline = request.bytes == 0 || (by_core && request.bytes <= kMaxInline) ? 1 : 0;
    if (header.is_inline == 0) header.tag = next_tag();
    send_header(other, header, request.local);
    if (header.is_inline == 0) {
      auto& sent = buffers_->outgoing.emplace_back();
      check_mpi(
          MPI_Isend(request.local, bytes, MPI_BYTE, other, static_cast<int>(header.tag), payloads_, &sent.request),
          "MPI_Isend");
    }
  }
  queue_of(link, queue).posted.push_back(posted);
}

void MpiTransport::post_receive(LinkId link, int queue, std::byte* local, std::uint32_t /*key*/, std::uint32_t bytes) {
  if (local != nullptr) queue_of(link, queue).receives.push_back({local, bytes});
}

void MpiTransport::poll(std::vector<WorkCompletion>& done) {
  take_headers();
  finish_outgoing();
  for (auto& [of, queue] : queues_)
    while (report(of.first, of.second, queue, done)) {
    }
}

// Headers are matched in the order in which they were asked for, so that slot is looked at alone.
void MpiTransport::take_headers() {
  for (;;) {
    int arrived = 0;
    MPI_Status status;
    check_mpi(MPI_Test(&slot_requests_[next_slot_], &arrived, &status), "MPI_Test");
    if (arrived == 0) return;
    Header header;
    auto const& bytes = buffers_->slots[next_slot_];
    std::memcpy(&header, bytes.data(), sizeof header);
    on_header(status.MPI_SOURCE, header, bytes.data() + sizeof header);
    listen(next_slot_);
    next_slot_ = (next_slot_ + 1) % kSlots;
  }
}

void MpiTransport::on_header(int rank, Header const& header, std::byte const* bytes) {
  auto const link = LinkId(header.link);
  if (index(link) >= layout_.links.size() || other_end(link) != rank)
    throw DeviceError(fmt::format("a message of process {} on {}", rank, hosts_[static_cast<std::size_t>(rank)]),
                      EPROTO, "an unknown message");
  auto& queue = queue_of(link, static_cast<int>(header.queue));
  switch (header.kind) {
    case Kind::Acknowledgement:
      for (auto& posted : queue.posted)
        if (posted.number == header.number) posted.is_done = true;
      break;
    case Kind::Read: {
      auto& sent = buffers_->outgoing.emplace_back();
      check_mpi(MPI_Isend(at(header.address), static_cast<int>(header.bytes), MPI_BYTE, rank,
                          static_cast<int>(header.tag), answers_, &sent.request),
                "MPI_Isend");
      break;
    }
    case Kind::Send:
    case Kind::Write: on_write(rank, header, bytes); break;
  }
}

void MpiTransport::on_write(int rank, Header const& header, std::byte const* bytes) {
  auto& queue = queue_of(LinkId(header.link), static_cast<int>(header.queue));
  auto* target = at(header.address);
  if (header.kind == Kind::Send) {
    if (queue.receives.empty() || queue.receives.front().bytes < header.bytes)
      throw DeviceError(text(LinkId(header.link), static_cast<int>(header.queue)), EMSGSIZE,
                        "a message came for which there is no room");
    target = queue.receives.front().local;
    queue.receives.pop_front();
  }
  auto& arrival = queue.arriving.emplace_back();
  arrival.header = header;
  if (header.is_inline != 0) {
    if (header.bytes > 0) std::memcpy(target, bytes, header.bytes);
    arrival.has_arrived = true;
    return;
  }
  check_mpi(MPI_Irecv(target, static_cast<int>(header.bytes), MPI_BYTE, rank, static_cast<int>(header.tag), payloads_,
                      &arrival.request),
            "MPI_Irecv");
}

// Asks of the oldest only: every question makes MPI look at all that it has under way.
void MpiTransport::finish_outgoing() {
  while (!buffers_->outgoing.empty()) {
    int ended = 0;
    check_mpi(MPI_Test(&buffers_->outgoing.front().request, &ended, MPI_STATUS_IGNORE), "MPI_Test");
    if (ended == 0) return;
    buffers_->outgoing.pop_front();
  }
}

// Reports the oldest message or request of a queue, where it has ended. False: there is none.
bool MpiTransport::report(LinkId link, int number, Queue& queue, std::vector<WorkCompletion>& done) {
  auto const length_problem = [](MPI_Status const& status, std::uint32_t expected) {
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    return static_cast<std::uint32_t>(count) == expected
               ? std::string()
               : fmt::format("a message of {} bytes came where {} were announced", count, expected);
  };
  if (!queue.arriving.empty()) {
    auto& arrival = queue.arriving.front();
    std::string problem;
    int arrived = arrival.has_arrived ? 1 : 0;
    if (arrived == 0) {
      MPI_Status status;
      check_mpi(MPI_Test(&arrival.request, &arrived, &status), "MPI_Test");
      if (arrived != 0) problem = length_problem(status, arrival.header.bytes);
    }
    if (arrived != 0) {
      auto const header = arrival.header;
      queue.arriving.pop_front();
      if (header.is_acknowledged != 0) {
        Header answer;
        answer.kind = Kind::Acknowledgement;
        answer.link = header.link;
        answer.queue = header.queue;
        answer.number = header.number;
        send_header(other_end(link), answer, nullptr);
      }
      if (header.has_immediate != 0 || !problem.empty())
        done.push_back({link, number, true, 0, header.immediate, problem});
      return true;
    }
  }
  if (queue.posted.empty()) return false;
  auto& posted = queue.posted.front();
  std::string problem;
  if (posted.is_read && !posted.is_done) {
    int ended = 0;
    MPI_Status status;
    check_mpi(MPI_Test(&posted.request, &ended, &status), "MPI_Test");
    posted.is_done = ended != 0;
    if (posted.is_done) problem = length_problem(status, posted.bytes);
  }
  if (!posted.is_done) return false;
  if (posted.signalled || !problem.empty()) done.push_back({link, number, false, posted.number, 0, problem});
  queue.posted.pop_front();
  return true;
}

void MpiTransport::wait_briefly() {
  if (shares_cores_) std::this_thread::yield();
}

bool MpiTransport::is_idle() const {
  return buffers_->outgoing.empty() && std::all_of(queues_.begin(), queues_.end(), [](auto const& entry) {
           return entry.second.posted.empty() && entry.second.arriving.empty();
         });
}

// A barrier that does not block: behind it no process has anything left to ask of another.
bool MpiTransport::ended() {
  if (!in_barrier_) {
    if (!is_idle()) return false;
    check_mpi(MPI_Ibarrier(answers_, &barrier_), "MPI_Ibarrier");
    in_barrier_ = true;
  }
  int all_here = 0;
  check_mpi(MPI_Test(&barrier_, &all_here, MPI_STATUS_IGNORE), "MPI_Test");
  if (all_here != 0) in_barrier_ = false;
  return all_here != 0;
}

void MpiTransport::abort(LinkId link) {
  for (auto& [of, queue] : queues_) {
    if (of.first != link) continue;
    for (auto const& arrival : queue.arriving) given_up_.push_back(arrival.request);
    for (auto const& posted : queue.posted) given_up_.push_back(posted.request);
    queue = {};
  }
}

std::string MpiTransport::text(LinkId link, int /*queue*/) const {
  auto const other = other_end(link);
  return fmt::format("MPI to process {} on {}", other, hosts_[static_cast<std::size_t>(other)]);
}

}  // namespace lanewise::hw
