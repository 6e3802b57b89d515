#include "core/design/shared_work.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>

#include "core/io/interrupt.hpp"
#include "core/io/work_progress.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise {
namespace {

using Clock = std::chrono::steady_clock;

// An item that another process began is waited for this long after the last one of its own ended, and no less than
// twice its own longest: then that process is taken to be gone.
constexpr std::chrono::seconds kPatience{60};

std::optional<int> number_in(char const* variable) {
  auto const* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  char* end = nullptr;
  auto const value = std::strtol(text, &end, 10);
  if (end == text || *end != '\0' || value < 0 || value > 1'000'000) return std::nullopt;
  return static_cast<int>(value);
}

// What one process does of the work of several.
class Worker {
 public:
  Worker(std::vector<WorkItem> const& items, std::vector<std::size_t> const& missing, ResultStore& store,
         std::string_view doing)
      : items_(items), missing_(missing), store_(store), doing_(doing) {}

  // `slot`: of `slots` processes that share this. `is_anybody_there`: whether others may still do what they began.
  void work(std::size_t slot, std::size_t slots, std::function<bool()> const& is_anybody_there) {
    auto const first = missing_.size() * slot / slots;
    for (std::size_t k = 0; k < missing_.size(); ++k) {
      auto const& item = items_[missing_[(first + k) % missing_.size()]];
      if (store_.find(item.key) != nullptr) continue;
      if (slots > 1) look_around();
      if (store_.find(item.key) == nullptr && !store_.is_claimed(item.key)) evaluate(item, slots > 1);
    }
    if (slots > 1) wait_for_others(is_anybody_there);
  }

 private:
  void evaluate(WorkItem const& item, bool is_shared) {
    throw_if_interrupted();
    if (is_shared) store_.claim(item.key);
    auto const begun = Clock::now();
    store_.add(item.key, item.what, item.evaluate());
    last_ended_ = Clock::now();
    longest_ = std::max(longest_, last_ended_ - begun);
    report();
  }

  void look_around() {
    store_.refresh();
    if (!store_.given_up()) return;
    auto const& [kind, why] = *store_.given_up();
    switch (kind) {
      case ResultStore::GivenUpFor::OutOfMemory: throw std::bad_alloc();
      case ResultStore::GivenUpFor::Missing: throw MissingError(why);
      case ResultStore::GivenUpFor::Input: throw InputError(why);
      case ResultStore::GivenUpFor::Defect: break;
    }
    throw std::runtime_error(why);
  }

  void wait_for_others(std::function<bool()> const& is_anybody_there) {
    auto const patience = std::max<Clock::duration>(kPatience, 2 * longest_);
    auto pause = std::chrono::milliseconds(2);
    bool are_gone = false;
    for (auto const i : missing_) {
      auto const& item = items_[i];
      while (store_.find(item.key) == nullptr) {
        throw_if_interrupted();
        are_gone = are_gone || !is_anybody_there() || Clock::now() - last_ended_ > patience;
        look_around();  // what they wrote before they went
        if (store_.find(item.key) != nullptr) break;
        if (are_gone) {
          evaluate(item, true);
          break;
        }
        std::this_thread::sleep_for(pause);
        pause = std::min(2 * pause, std::chrono::milliseconds(100));
        report();
      }
    }
  }

  void report() {
    if (Clock::now() - last_reported_ < std::chrono::milliseconds(100)) return;  // counting takes longer than telling
    last_reported_ = Clock::now();
    auto const done = static_cast<std::size_t>(std::count_if(
        missing_.begin(), missing_.end(), [&](std::size_t i) { return store_.find(items_[i].key) != nullptr; }));
    report_progress({doing_, "evaluations", done, missing_.size()});
  }

  std::vector<WorkItem> const& items_;
  std::vector<std::size_t> const& missing_;
  ResultStore& store_;
  std::string_view doing_;
  Clock::time_point last_ended_ = Clock::now();
  Clock::time_point last_reported_;
  Clock::duration longest_{0};
};

// The other processes of this machine. They end with it.
class Pool {
 public:
  Pool() = default;
  Pool(Pool const&) = delete;
  Pool& operator=(Pool const&) = delete;
  ~Pool() {
    for (auto const child : children_) kill(child, SIGKILL);
    wait();
  }

  // `work` runs in a process of its own; what it throws it leaves in the store.
  void start(ResultStore& store, std::function<void()> const& work) {
    auto const parent = getpid();
    auto const child = fork();
    if (child < 0) return;  // no more processes: those there are do all
    if (child > 0) {
      children_.push_back(child);
      return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    ProgressScope const silent([](WorkProgress const&) {});  // the parent's listener has a thread, which is not here
    try {
      store.begin_own_file();
      work();
    } catch (Interrupted const&) {
    } catch (std::bad_alloc const&) {
      give_up(store, ResultStore::GivenUpFor::OutOfMemory, "");
    } catch (MissingError const& error) {
      give_up(store, ResultStore::GivenUpFor::Missing, error.what());
    } catch (InputError const& error) {
      give_up(store, ResultStore::GivenUpFor::Input, error.what());
    } catch (std::exception const& error) {
      give_up(store, ResultStore::GivenUpFor::Defect, error.what());
    }
    _exit(0);
  }

  // Whether one of them has not ended.
  bool is_anybody_there() {
    std::erase_if(children_, [](pid_t child) { return waitpid(child, nullptr, WNOHANG) == child; });
    return !children_.empty();
  }

  void wait() {
    for (auto const child : children_) waitpid(child, nullptr, 0);
    children_.clear();
  }

 private:
  static void give_up(ResultStore& store, ResultStore::GivenUpFor kind, std::string const& why) {
    try {
      store.give_up(kind, why);
    } catch (std::exception const&) {
      // Nothing can be written: the others find out by waiting.
    }
  }

  std::vector<pid_t> children_;
};

}  // namespace

Workers launched_workers() {
  // Open MPI, MPICH and Intel MPI (PMI), srun. A batch script has SLURM_PROCID too, but is no step.
  constexpr std::array<std::pair<char const*, char const*>, 3> kVariables{
      std::pair{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, std::pair{"PMI_RANK", "PMI_SIZE"},
      std::pair{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  for (auto const& [rank_variable, ranks_variable] : kVariables) {
    auto const rank = number_in(rank_variable);
    auto const ranks = number_in(ranks_variable);
    if (rank && ranks && *rank < *ranks) return {.processes = 1, .rank = *rank, .ranks = *ranks};
  }
  return {};
}

void evaluate_missing(std::vector<WorkItem> const& items, ResultStore& store, Workers const& workers,
                      std::string_view doing) {
  store.refresh();
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (store.find(items[i].key) == nullptr) missing.push_back(i);
  if (missing.empty()) return;
  auto const processes =
      store.is_shared() ? std::clamp<std::size_t>(static_cast<std::size_t>(workers.processes), 1, missing.size()) : 1;
  auto const slots = processes * static_cast<std::size_t>(workers.ranks);
  auto const first = processes * static_cast<std::size_t>(workers.rank);
  Worker worker(items, missing, store, doing);
  Pool pool;
  auto const unknown = [] { return true; };
  for (std::size_t k = 1; k < processes; ++k) pool.start(store, [&] { worker.work(first + k, slots, unknown); });
  worker.work(first, slots, [&] { return workers.ranks > 1 || pool.is_anybody_there(); });
  pool.wait();
}

}  // namespace lanewise
