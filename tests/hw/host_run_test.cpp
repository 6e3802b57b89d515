#include "hw/host/host_run.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <string>

#include "hw/host/host_executor.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise::hw {
namespace {

using namespace lanewise::literals;
using test::TemporaryFolder;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class HostRuns : public testing::Test {
 protected:
  HostRuns() { plan_.machine = machine_.name, plan_.fingerprint = fingerprint(machine_); }

  void add(std::string const& from, std::string const& to, Bytes bytes, std::vector<StepId> after = {}) {
    Way way{.mechanism = from.starts_with("nvme") || to.starts_with("nvme") ? Mechanism::HostDma : Mechanism::Local};
    if (way.mechanism == Mechanism::Local) way.cores = 1;
    plan_.steps.push_back({"step" + std::to_string(plan_.steps.size()), machine_.place(from), machine_.place(to), bytes,
                           Op::Copy, way, std::move(after)});
  }
  [[nodiscard]] DrivePaths paths() const { return {{"nvme0", folder_.path().string()}}; }

  Machine machine_ = test::machine_from(R"(lanewise: machine/1
machine: server
sockets:
  - socket: cpu0
    pcie: [{root_port: rp0, nvme: nvme0, part: unknown}]
)");
  Model model_{machine_};
  TemporaryFolder folder_;
  Plan plan_;
};

TEST_F(HostRuns, KeepTheOrderOfThePlanAndCheckEveryByte) {
  add("nvme0", "numa0", Bytes((1 << 20) + 5));
  add("numa0", "numa0", 1_MiB, {StepId(0)});
  add("numa0", "nvme0", Bytes(70001), {StepId(1)});
  add("numa0", "nvme0", 64_KiB);
  Drives drives(machine_, paths());
  HostRun run(plan_, model_, drives);
  for (int i = 0; i < 3; ++i) {
    auto const times = run.once();
    EXPECT_THAT(run.mismatches(), Each(IsEmpty()));
    EXPECT_GE(times.steps[1].start, times.steps[0].end);
    EXPECT_GE(times.steps[2].start, times.steps[1].end);
    EXPECT_GE(times.makespan, times.steps[2].end);
    EXPECT_GE(times.steps[3].start.value(), 0);
  }
  EXPECT_THAT(folder_.names(), IsEmpty());  // the file has lost its name already
}

// A step wakes only what waits for it.
TEST_F(HostRuns, RunALongChain) {
  for (std::uint32_t i = 0; i < 500; ++i)
    add("numa0", "numa0", 4_KiB, i == 0 ? std::vector<StepId>{} : std::vector{StepId(i - 1)});
  Drives drives(machine_, {});
  HostRun run(plan_, model_, drives);
  auto const times = run.once();
  for (std::size_t i = 1; i < plan_.steps.size(); ++i) EXPECT_GE(times.steps[i].start, times.steps[i - 1].end);
  EXPECT_THAT(run.mismatches(), Each(IsEmpty()));
}

TEST_F(HostRuns, SayHowDrivesWereReached) {
  add("nvme0", "numa0", 64_KiB);
  HostExecutor executor(model_, {{1, 2}, paths()});
  auto const trace = executor.run(plan_);
  EXPECT_EQ(trace.mode, "hw");
  EXPECT_EQ(trace.steps[0].verified, true);
  EXPECT_EQ(trace.environment.at("executor"), "host");
  EXPECT_THAT(trace.environment.at("drives"), HasSubstr("nvme0: " + folder_.path().string() + ", "));
}

TEST_F(HostRuns, FindAWrongByte) {
  auto const path = folder_.with("data", std::string(100000, 'x'));
  add("nvme0", "numa0", Bytes(100000));
  Drives drives(machine_, {{"nvme0", path.string()}});
  HostRun run(plan_, model_, drives);
  run.once();
  EXPECT_THAT(run.mismatches(), Each(IsEmpty()));
  std::string changed(100000, 'x');
  changed[77777] = 'y';
  static_cast<void>(folder_.with("data", changed));
  EXPECT_THAT(run.mismatches().front(), HasSubstr("77777"));
}

TEST_F(HostRuns, NameTheStepThatFailedAndBeginNoOther) {
  auto const path = folder_.with("data", std::string(100000, 'x'));
  add("nvme0", "numa0", Bytes(100000));
  add("numa0", "numa0", 64_KiB, {StepId(0)});
  Drives drives(machine_, {{"nvme0", path.string()}});
  HostRun run(plan_, model_, drives);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_THAT([&] { run.once(); }, ThrowsMessage<DeviceError>(
                                       testing::AllOf(HasSubstr("step 'step0'"), HasSubstr("the file ends after 0"))));
}

TEST_F(HostRuns, RefuseWhatNeedsAGpu) {
  add("numa0", "numa0", 64_KiB);
  plan_.steps[0].bytes = Bytes(0);
  plan_.steps[0].work = Seconds(1e-3);
  Drives drives(machine_, {});
  EXPECT_THAT([&] { HostRun(plan_, model_, drives); },
              ThrowsMessage<PlanError>(HasSubstr("computing is run on GPUs only")));
}

}  // namespace
}  // namespace lanewise::hw
