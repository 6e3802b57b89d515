// Programs of collectives, run here on the host as their kernel would on GPUs: memory, flags and images are real, only
// the GPUs are not. Whichever GPU goes on first, the sums must be right.
#include "hw/program/device_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "hw/memory/pattern.hpp"
#include "hw/program/assign_blocks.hpp"
#include "hw/program/contents.hpp"
#include "hw/program/ll_program.hpp"
#include "hw/program/program_image.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/planner/choice/plan_collective.hpp"

namespace lanewise::hw {
namespace {

using namespace literals;
using ::testing::HasSubstr;

constexpr std::uint32_t kMaxBlocks = 264;  // two on each multiprocessor of an H200

Machine bundled(std::string const& name) {
  static Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  return catalogue.machine(name);
}

Collective among(Machine const& machine, CollectiveOp op, std::size_t count, Bytes bytes,
                 Algorithm algorithm = Algorithm::Auto) {
  Collective collective{op, {}, bytes, algorithm, op == CollectiveOp::Chain ? 0 : count / 2};
  for (auto const gpu : machine.all(PciKind::Gpu))
    if (collective.among.size() < count) collective.among.emplace_back(gpu);
  return collective;
}

std::uint8_t expected_byte(Content const& content, std::int64_t offset) {
  Contribution const contribution{static_cast<std::uint64_t>(content.from.value()) / 8, content.first, content.count};
  auto const at = static_cast<std::uint64_t>(offset);
  return byte_of(contributed_word(contribution, at / 8), at);
}

// One GPU's kernel, task by task.
class HostKernel {
 public:
  HostKernel(ProgramImage image, std::vector<std::uint32_t> const& flags) : image_(std::move(image)), flags_(flags) {
    header_ = reinterpret_cast<ProgramHeader const*>(image_.bytes.data());
    tasks_ = reinterpret_cast<PackedTask const*>(header_ + 1);
    addresses_ = reinterpret_cast<std::uint64_t const*>(tasks_ + header_->tasks);
    numbers_ = reinterpret_cast<std::uint32_t const*>(addresses_ + header_->addresses);
  }

  // Takes the next step of the kernel if it need not wait.
  bool step(std::uint32_t epoch) {
    if (done_) return false;
    if (!arrived_) {
      for (auto const flag : image_.arrivals) *reinterpret_cast<std::uint32_t*>(flag) = epoch;
      return arrived_ = true;
    }
    if (next_ == header_->tasks) return done_ = all_reached(header_->leaves, epoch);
    auto const& task = tasks_[next_];
    if (!all_reached(task.waits, epoch)) return false;
    perform(task);
    for (std::uint32_t i = 0; i < task.signals.count; ++i)
      *reinterpret_cast<std::uint32_t*>(addresses_[task.signals.first + i]) = epoch;
    ++next_;
    return true;
  }
  [[nodiscard]] bool done() const { return done_; }
  void begin_again() { arrived_ = done_ = false, next_ = 0; }

 private:
  [[nodiscard]] bool all_reached(Range numbers, std::uint32_t epoch) const {
    for (std::uint32_t i = 0; i < numbers.count; ++i)
      if (flags_[numbers_[numbers.first + i]] != epoch) return false;
    return true;
  }
  void perform(PackedTask const& task) const {
    auto* const target = reinterpret_cast<std::uint32_t*>(task.target);
    for (std::uint64_t i = 0; i < task.bytes / 4; ++i) {
      std::uint32_t sum = 0;
      for (std::uint32_t s = 0; s < task.sources.count; ++s)
        sum += reinterpret_cast<std::uint32_t const*>(addresses_[task.sources.first + s])[i];
      target[i] = sum;
    }
  }

  ProgramImage image_;
  std::vector<std::uint32_t> const& flags_;
  ProgramHeader const* header_;
  PackedTask const* tasks_;
  std::uint64_t const* addresses_;
  std::uint32_t const* numbers_;
  std::uint32_t next_ = 0;
  bool arrived_ = false, done_ = false;
};

// The buffers of a plan.
class HostMemory {
 public:
  explicit HostMemory(Plan const& plan) : plan_(plan) {
    for (auto const& buffer : plan.buffers) memory_.emplace_back(static_cast<std::size_t>(buffer.bytes.value()) / 4);
  }
  [[nodiscard]] std::vector<std::uint64_t> addresses() const {
    std::vector<std::uint64_t> all;
    for (auto const& buffer : memory_) all.push_back(reinterpret_cast<std::uint64_t>(buffer.data()));
    return all;
  }
  void fill() {
    auto const contents = initial_contents(plan_);
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      std::fill(memory_[i].begin(), memory_[i].end(), 0xdeadbeefU);
      auto* const bytes = reinterpret_cast<std::uint8_t*>(memory_[i].data());
      for (auto const& content : contents[i])
        for (std::int64_t k = 0; k < content.bytes.value(); ++k)
          bytes[content.at.value() + k] = expected_byte(content, k);
    }
  }
  [[nodiscard]] std::string mismatch() const {
    auto const contents = expected_contents(plan_);
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      auto const* const bytes = reinterpret_cast<std::uint8_t const*>(memory_[i].data());
      for (auto const& content : contents[i])
        for (std::int64_t k = 0; k < content.bytes.value(); ++k)
          if (bytes[content.at.value() + k] != expected_byte(content, k))
            return plan_.buffers[i].name + " at " + std::to_string(content.at.value() + k);
    }
    return {};
  }

 private:
  Plan const& plan_;
  std::vector<std::vector<std::uint32_t>> memory_;
};

class HostRun {
 public:
  explicit HostRun(Plan const& plan) : memory_(plan), programs_(lower(plan, kMaxBlocks)) {
    Addresses where;
    where.buffers = memory_.addresses();
    flags_.assign(programs_.gpus.size(), std::vector<std::uint32_t>(flag_count(programs_)));
    for (auto& flags : flags_) where.flags.push_back(reinterpret_cast<std::uint64_t>(flags.data()));
    for (std::size_t gpu = 0; gpu < programs_.gpus.size(); ++gpu)
      kernels_.emplace_back(image_of(programs_, plan.buffers, gpu, where), flags_[gpu]);
  }

  // Runs with a random GPU at each step. Returns what is wrong afterwards; empty: nothing.
  std::string fault(std::uint32_t epoch, std::mt19937& random) {
    memory_.fill();
    for (auto& kernel : kernels_) kernel.begin_again();
    std::vector<std::size_t> order(kernels_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (;;) {
      std::shuffle(order.begin(), order.end(), random);
      bool moved = false;
      for (auto const gpu : order)
        if (!moved) moved = kernels_[gpu].step(epoch);
      if (!moved) break;
    }
    for (auto const& kernel : kernels_)
      if (!kernel.done()) return "a kernel waits for ever";
    return memory_.mismatch();
  }

 private:
  HostMemory memory_;
  DevicePrograms programs_;
  std::vector<std::vector<std::uint32_t>> flags_;
  std::vector<HostKernel> kernels_;
};

// LL programs, thread by thread in random order.
class HostLLRun {
 public:
  HostLLRun(Plan const& plan, LLPrograms const& programs) : memory_(plan) {
    LLAddresses where{memory_.addresses(), {}};
    for (auto const bytes : programs.ll_bytes) {
      ll_memory_.emplace_back(static_cast<std::size_t>(bytes.value()) / 4);
      where.ll_memory.push_back(reinterpret_cast<std::uint64_t>(ll_memory_.back().data()));
    }
    for (std::size_t gpu = 0; gpu < programs.gpus.size(); ++gpu) programs_.push_back(pack(programs, plan, gpu, where));
  }

  // Runs, and returns what is wrong afterwards; empty: nothing.
  std::string fault(std::uint32_t epoch, std::mt19937& random) {
    memory_.fill();
    std::vector<Thread> threads;
    for (auto const& program : programs_) {
      std::uint32_t blocks = 0;
      for (std::uint32_t t = 0; t < program.tasks; ++t)
        blocks = std::max<std::uint32_t>(blocks, program.task[t].first_block + program.task[t].blocks);
      for (std::uint32_t i = 0; i < blocks * kThreads; ++i) threads.push_back({&program, i / kThreads, i % kThreads});
    }
    for (bool moved = true; moved;) {
      moved = false;
      std::shuffle(threads.begin(), threads.end(), random);
      for (auto& thread : threads) moved = step(thread, epoch) || moved;
    }
    for (auto const& thread : threads)
      if (thread.task < thread.program->tasks) return "a thread waits for ever";
    return memory_.mismatch();
  }

 private:
  static constexpr std::uint32_t kThreads = 32;  // a block, here
  struct Thread {
    LLProgram const* program;
    std::uint32_t block, index, task = 0, done = 0;
  };
  // Does the thread's next element or goes on to its next task. False when it must wait.
  static bool step(Thread& thread, std::uint32_t epoch) {
    if (thread.task == thread.program->tasks) return false;
    auto const& task = thread.program->task[thread.task];
    auto const i = ((thread.block - task.first_block) + thread.done * task.blocks) * kThreads + thread.index;
    if (thread.block < task.first_block || thread.block - task.first_block >= task.blocks || i >= task.count) {
      ++thread.task;
      thread.done = 0;
      return true;
    }
    std::uint32_t sum[2] = {};
    for (std::uint32_t k = 0; k < task.inputs; ++k) {
      auto const at = thread.program->address[task.first_input + k];
      bool const is_ll = (at & kLLAddressBit) != 0;
      auto const* const words = reinterpret_cast<std::uint32_t const*>(at & ~kLLAddressBit) + i * (is_ll ? 4 : 2);
      if (is_ll && words[1] != epoch) return false;
      sum[0] += words[0];
      sum[1] += words[is_ll ? 2 : 1];
    }
    for (std::uint32_t k = 0; k < task.outputs; ++k) {
      auto const at = thread.program->address[task.first_output + k];
      bool const is_ll = (at & kLLAddressBit) != 0;
      auto* const words = reinterpret_cast<std::uint32_t*>(at & ~kLLAddressBit) + i * (is_ll ? 4 : 2);
      words[0] = sum[0];
      words[is_ll ? 2 : 1] = sum[1];
      if (is_ll) words[1] = epoch;
    }
    ++thread.done;
    return true;
  }

  HostMemory memory_;
  std::vector<std::vector<std::uint32_t>> ll_memory_;
  std::vector<LLProgram> programs_;
};

class Programs : public testing::TestWithParam<CollectiveOp> {};

TEST_P(Programs, GiveEveryoneWhatTheCollectiveSays) {
  Model const model(bundled("hgx-h200"));
  std::mt19937 random(1);  // NOLINT: the same every time
  int found = 0;
  for (std::size_t count = 2; count <= 8; ++count)
    for (auto const bytes : {Bytes(16 * 840), Bytes(16 * 8 * 840 + 16 * static_cast<std::int64_t>(count))})
      for (auto const& plan : plans_of_collective(model, among(model.machine(), GetParam(), count, bytes))) {
        if (why_streams(plan, model.machine())) continue;  // by copy engines
        ++found;
        HostRun run(plan);
        for (std::uint32_t epoch = 1; epoch <= 3; ++epoch)
          EXPECT_EQ(run.fault(epoch, random), "") << to_string(plan.collective->algorithm) << " among " << count;
      }
  EXPECT_GE(found, 14);
}

// All collectives with LL programs: no data may overwrite what another thread still has to read.
TEST_P(Programs, OfLinesGiveItToo) {
  Model const model(bundled("hgx-h200"));
  std::mt19937 random(1);  // NOLINT: the same every time
  int found = 0;
  for (std::size_t count = 2; count <= 8; ++count)
    for (auto const bytes :
         {Bytes(16 * static_cast<std::int64_t>(count)), Bytes(48 * 16 * static_cast<std::int64_t>(count))})
      for (auto const& plan : plans_of_collective(model, among(model.machine(), GetParam(), count, bytes))) {
        auto const programs = ll_programs(plan, model.machine(), kMaxBlocks);
        if (!programs) continue;
        ++found;
        HostLLRun run(plan, *programs);
        for (std::uint32_t epoch = 1; epoch <= 3; ++epoch)
          EXPECT_EQ(run.fault(epoch, random), "") << to_string(plan.collective->algorithm) << " among " << count;
      }
  EXPECT_GE(found, 7);  // the direct ones at least
}

INSTANTIATE_TEST_SUITE_P(Ops, Programs,
                         testing::Values(CollectiveOp::Broadcast, CollectiveOp::Scatter, CollectiveOp::Gather,
                                         CollectiveOp::AllGather, CollectiveOp::ReduceScatter, CollectiveOp::Reduce,
                                         CollectiveOp::AllReduce, CollectiveOp::AllToAll, CollectiveOp::Chain));

TEST(Lower, SendsUnevenPieces) {
  Model const model(bundled("hgx-h200"));
  auto uneven = among(model.machine(), CollectiveOp::AllToAllV, 3, Bytes(0));
  for (std::int64_t from = 0; from < 3; ++from)
    uneven.sizes.push_back({Bytes(16 * 999 * from), Bytes(16 * 999 * (5 + from)), Bytes(16 * 777 * from)});
  uneven.bytes = held_by(uneven, 2);
  auto const plan = plan_collective(model, uneven);
  EXPECT_EQ(why_streams(plan, model.machine()).value_or(""), "");
  std::mt19937 random(1);  // NOLINT: the same every time
  EXPECT_EQ(HostRun(plan).fault(1, random), "");
}

TEST(Lower, FindsAWaitThatIsMissing) {
  Model const model(bundled("hgx-h200"));
  auto plan = plan_collective(model, among(model.machine(), CollectiveOp::AllReduce, 4, 1_MiB, Algorithm::Ring));
  for (auto& step : plan.steps) step.after.clear();
  std::mt19937 random(1);  // NOLINT: the same every time
  EXPECT_NE(HostRun(plan).fault(1, random), "");
}

TEST(Lower, AddsAllThatOthersHaveAtOnce) {
  Model const model(bundled("hgx-h200"));
  auto const plans = plans_of_collective(model, among(model.machine(), CollectiveOp::AllReduce, 8, 4_KiB));
  // In one step: the result is beside the data.
  auto const plan = std::find_if(plans.begin(), plans.end(), [](Plan const& p) { return p.buffers.size() == 16; });
  ASSERT_NE(plan, plans.end());
  auto const programs = lower(*plan, kMaxBlocks);
  ASSERT_EQ(programs.tasks.size(), 8U);  // each GPU its own and seven others'
  for (auto const& task : programs.tasks) {
    EXPECT_EQ(task.sources.size(), 8U);
    EXPECT_EQ(task.blocks, 1U);
    EXPECT_TRUE(task.waits.empty());
  }
}

TEST(Lower, LetsTasksSideBySideShareTheBlocks) {
  Model const model(bundled("hgx-h200"));
  auto const plan =
      plan_collective(model, among(model.machine(), CollectiveOp::AllGather, 8, 64_MiB, Algorithm::Direct));
  auto const programs = lower(plan, kMaxBlocks);
  for (std::size_t gpu = 0; gpu < programs.gpus.size(); ++gpu) {
    std::vector<int> users(kMaxBlocks);
    for (auto const& task : programs.tasks)
      for (auto block = task.first_block; task.gpu == gpu && block < task.first_block + task.blocks; ++block)
        ++users.at(block);
    EXPECT_EQ(*std::max_element(users.begin(), users.end()), 1);
    EXPECT_GT(blocks_on(programs.tasks, gpu), kMaxBlocks * 9 / 10);
  }
}

TEST(Lines, AreForFewBytesThatNobodyElseTouches) {
  Model const model(bundled("hgx-h200"));
  auto const& machine = model.machine();
  auto const exists = [&](Collective const& wanted) {
    return ll_programs(plan_collective(model, wanted), machine, kMaxBlocks).has_value();
  };
  EXPECT_TRUE(exists(among(machine, CollectiveOp::AllReduce, 8, 256_KiB)));
  EXPECT_TRUE(exists(among(machine, CollectiveOp::AllReduce, 4, 64_KiB, Algorithm::Ring)));
  EXPECT_FALSE(exists(among(machine, CollectiveOp::AllReduce, 8, 64_MiB)));
  EXPECT_FALSE(exists(among(machine, CollectiveOp::AllGather, 3, Bytes(3 * 4))));  // half an element
  // Halves of halves: what is sent in the second round is a part of what was summed in the first.
  EXPECT_FALSE(exists(among(machine, CollectiveOp::AllReduce, 8, 256_KiB, Algorithm::HalvingDoubling)));
}

TEST(WhyStreams, SaysWhatProgramsCannotDo) {
  Model const model(bundled("hgx-h200"));
  auto const& machine = model.machine();
  auto const small = plan_collective(model, among(machine, CollectiveOp::AllGather, 2, 1_MiB));
  EXPECT_FALSE(why_streams(small, machine));
  auto const large = plan_collective(model, among(machine, CollectiveOp::AllGather, 2, 1_GiB));
  EXPECT_THAT(why_streams(large, machine).value_or(""), HasSubstr("copy engines"));
  auto plan = small;
  plan.steps.push_back({"work", plan.steps[0].from, plan.steps[0].from, Bytes(0), Op::Copy, {}, {}});
  plan.steps.back().work = Seconds(1e-5);
  EXPECT_THAT(why_streams(plan, machine).value_or(""), HasSubstr("computes"));
  plan = small;
  plan.collective.reset();
  EXPECT_THAT(why_streams(plan, machine).value_or(""), HasSubstr("no buffers"));
  plan = small;
  plan.steps.back().way = {.mechanism = Mechanism::HostStaged, .staging = NumaId(0)};
  EXPECT_THAT(why_streams(plan, machine).value_or(""), HasSubstr("host_staged is no access"));
}

TEST(Contents, AreThoseOfEachCollectiveOfAPlan) {
  auto const machine = bundled("hgx-h200");
  Plan plan{machine.name, "", {}, {}};
  plan.buffers.resize(2 + 4);
  plan.collectives = {{"first", among(machine, CollectiveOp::AllGather, 2, Bytes(64)), BufferId(0)},
                      {"second", among(machine, CollectiveOp::AllReduce, 2, Bytes(32)), BufferId(2)}};
  auto const begin = initial_contents(plan);
  auto const end = expected_contents(plan);
  EXPECT_EQ(begin[1], (std::vector<Content>{{Bytes(32), Bytes(32), Bytes(32), 1, 1}}));
  EXPECT_EQ(end[0].size(), 2U);
  EXPECT_EQ(begin[3], (std::vector<Content>{{Bytes(0), Bytes(32), Bytes(0), 1, 1}}));
  EXPECT_TRUE(end[3].empty());  // the result of the second is beside its data
  EXPECT_EQ(end[5], (std::vector<Content>{{Bytes(0), Bytes(32), Bytes(0), 0, 2}}));
}

TEST(Contents, AreTheSumsOfAll) {
  auto const machine = bundled("hgx-h200");
  Plan plan{machine.name, "", {}, {}, {}, among(machine, CollectiveOp::ReduceScatter, 3, Bytes(16 * 10))};
  plan.buffers.resize(3);
  auto const end = expected_contents(plan);
  // Cuts at whole 16 bytes: 3, 3 and 4 of them.
  EXPECT_EQ(end[0], (std::vector<Content>{{Bytes(0), Bytes(48), Bytes(0), 0, 3}}));
  EXPECT_EQ(end[2], (std::vector<Content>{{Bytes(96), Bytes(64), Bytes(96), 0, 3}}));
  EXPECT_EQ(initial_contents(plan)[1], (std::vector<Content>{{Bytes(0), Bytes(160), Bytes(0), 1, 1}}));
  // Each half of a word is summed by itself.
  auto const one = contributed_word({0, 0, 1}, 5);
  auto const two = contributed_word({0, 1, 1}, 5);
  auto const low = static_cast<std::uint32_t>(one) + static_cast<std::uint32_t>(two);
  auto const high = static_cast<std::uint32_t>(one >> 32) + static_cast<std::uint32_t>(two >> 32);
  EXPECT_EQ(contributed_word({0, 0, 2}, 5), (static_cast<std::uint64_t>(high) << 32) | low);
}

}  // namespace
}  // namespace lanewise::hw
