// The group of processes that MPI's launcher started (mpirun; srun with PMIx). Only MPI's C functions are used.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <list>
#include <optional>
#include <thread>

#include "core/io/interrupt.hpp"
#include "hw/mpi/mpi_call.hpp"
#include "hw/nodes/group.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

constexpr int kFailureTag = 1;
constexpr int kClockTag = 2;
constexpr int kRoundTrips = 32;
constexpr std::chrono::seconds kInterruptGrace{5};

int count_of(std::string const& text) {
  if (text.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw PlanError("a message between the nodes' processes is larger than MPI can count");
  return static_cast<int>(text.size());
}

class MpiGroup : public Group {
 public:
  MpiGroup() {
    int ready = 0;
    check_mpi(MPI_Initialized(&ready), "MPI_Initialized");
    int threads = MPI_THREAD_FUNNELED;
    if (ready == 0)
      check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &threads), "MPI_Init_thread");
    else
      check_mpi(MPI_Query_thread(&threads), "MPI_Query_thread");
    if (threads < MPI_THREAD_FUNNELED)
      throw MissingError(about() + " was built without threads, which plans on hardware need (MPI_THREAD_FUNNELED)");
    // Errors come back as codes where MPI can give one.
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    int size = 1;
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    counts_.resize(static_cast<std::size_t>(size));
    hosts_.resize(counts_.size());
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    hosts_ = all_gather(name.data());
  }
  MpiGroup(MpiGroup const&) = delete;
  MpiGroup& operator=(MpiGroup const&) = delete;
  ~MpiGroup() override {
    if (!broken_) MPI_Finalize();  // otherwise it would wait for processes that have failed; the launcher ends them
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] std::vector<std::string> const& hosts() const override { return hosts_; }
  [[nodiscard]] std::string about() const override {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    std::string const whole(text.data(), static_cast<std::size_t>(length));
    return whole.substr(0, whole.find(','));
  }

  std::string broadcast(std::string text) override {
    throw_if_broken();
    sent_ = std::move(text);
    count_ = rank_ == 0 ? count_of(sent_) : 0;
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ibcast(&count_, 1, MPI_INT, 0, MPI_COMM_WORLD, &request), "MPI_Ibcast");
    wait(request);
    sent_.resize(static_cast<std::size_t>(count_));
    check_mpi(MPI_Ibcast(sent_.data(), count_, MPI_CHAR, 0, MPI_COMM_WORLD, &request), "MPI_Ibcast");
    wait(request);
    return std::move(sent_);
  }

  std::vector<std::string> all_gather(std::string text) override {
    throw_if_broken();
    sent_ = std::move(text);
    count_ = count_of(sent_);
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Iallgather(&count_, 1, MPI_INT, counts_.data(), 1, MPI_INT, MPI_COMM_WORLD, &request),
              "MPI_Iallgather");
    wait(request);
    begins_.assign(1, 0);
    for (auto const count : counts_) begins_.push_back(begins_.back() + count);
    received_.resize(static_cast<std::size_t>(begins_.back()));
    check_mpi(MPI_Iallgatherv(sent_.data(), count_, MPI_CHAR, received_.data(), counts_.data(), begins_.data(),
                              MPI_CHAR, MPI_COMM_WORLD, &request),
              "MPI_Iallgatherv");
    wait(request);
    ++round_;
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      parts.push_back(received_.substr(static_cast<std::size_t>(begins_[i]), static_cast<std::size_t>(counts_[i])));
    return parts;
  }

  Seconds clock_offset() override {
    double ahead = 0;
    for (int other = 1; other < size(); ++other) {
      if (rank_ == 0) answer_clock(other);
      if (rank_ == other) ahead = ask_clock();
    }
    return Seconds(ahead);
  }

  void announce_failure() override {
    announced_.push_back(round_);
    for (int other = 0; other < size(); ++other) {
      if (other == rank_) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(MPI_Isend(&announced_.back(), 1, MPI_INT, other, kFailureTag, MPI_COMM_WORLD, &request), "MPI_Isend");
      check_mpi(MPI_Request_free(&request), "MPI_Request_free");
    }
  }

  bool failed_elsewhere() override {
    for (;;) {
      int found = 0;
      MPI_Status status;
      check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, kFailureTag, MPI_COMM_WORLD, &found, &status), "MPI_Iprobe");
      if (found == 0) return false;
      int round = 0;
      check_mpi(MPI_Recv(&round, 1, MPI_INT, status.MPI_SOURCE, kFailureTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                "MPI_Recv");
      if (round == round_) return true;  // otherwise of an earlier run
    }
  }

 private:
  // Polls, and sleeps between polls after a millisecond: the others may be planning, or share this core.
  void wait(MPI_Request& request) {
    using namespace std::chrono;
    auto const began = steady_clock::now();
    std::optional<steady_clock::time_point> asked;
    for (;;) {
      int done = 0;
      auto const code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      broken_ = code != MPI_SUCCESS;
      check_mpi(code, "MPI_Test");
      if (done != 0) return;
      auto const now = steady_clock::now();
      if (!asked && interrupted()) asked = now;
      if (asked && now - *asked > kInterruptGrace) {
        broken_ = true;
        throw_if_interrupted();
      }
      if (now - began > milliseconds(1)) std::this_thread::sleep_for(microseconds(200));
    }
  }
  void throw_if_broken() const {
    if (broken_) throw Interrupted("stopped while it waited for the other processes");
  }

  static void answer_clock(int other) {
    for (int i = 0; i < kRoundTrips; ++i) {
      double now = 0;
      check_mpi(MPI_Recv(&now, 1, MPI_DOUBLE, other, kClockTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
      now = monotonic_now().value();
      check_mpi(MPI_Send(&now, 1, MPI_DOUBLE, other, kClockTag, MPI_COMM_WORLD), "MPI_Send");
    }
  }
  // The shortest round trip is the least disturbed one; the first process's answer is taken as of its middle.
  static double ask_clock() {
    double shortest = std::numeric_limits<double>::infinity();
    double ahead = 0;
    for (int i = 0; i < kRoundTrips; ++i) {
      auto const asked = monotonic_now().value();
      double first = asked;
      check_mpi(MPI_Send(&first, 1, MPI_DOUBLE, 0, kClockTag, MPI_COMM_WORLD), "MPI_Send");
      check_mpi(MPI_Recv(&first, 1, MPI_DOUBLE, 0, kClockTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
      auto const answered = monotonic_now().value();
      if (answered - asked >= shortest) continue;
      shortest = answered - asked;
      ahead = (asked + answered) / 2 - first;
    }
    return ahead;
  }

  int rank_ = 0;
  bool broken_ = false;  // a collective call was given up, so no other may follow
  std::string sent_, received_;
  int count_ = 0;
  std::vector<int> begins_;
  std::vector<int> counts_;
  std::vector<std::string> hosts_;
  int round_ = 0;             // of all_gather()
  std::list<int> announced_;  // rounds that were lost here; a list, because MPI may still send from an element
};

}  // namespace
}  // namespace lanewise::hw

lanewise::hw::Group* lanewise_make_mpi_group() { return new lanewise::hw::MpiGroup; }
