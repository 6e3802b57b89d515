// What the range of a run is made of, where machines leave out products.
#include "core/verdict/run_ranges.hpp"

#include <gtest/gtest.h>

#include "lanewise/planner/jobs/job_set.hpp"
#include "tests/support/estimating_executor.hpp"
#include "tests/support/server.hpp"

namespace lanewise {
namespace {

using namespace literals;

// Two large copies within host memory at once.
Trace two_copies(Model const& model) {
  std::vector<Job> jobs;
  for (auto const* to : {"numa1", "numa0"})
    jobs.push_back({to,
                    Request{.from = model.machine().place(to == std::string_view("numa1") ? "numa0" : "numa1"),
                            .to = model.machine().place(to),
                            .bytes = 256_MiB},
                    {}});
  auto const plan = plan_job_set(model, {std::move(jobs)}, {Objective::Each});
  auto trace = test::estimated(model, plan);
  add_trace_ranges(trace, plan, model);
  return trace;
}

double above(Trace const& trace) { return trace.range->high / trace.makespan; }
double below(Trace const& trace) { return trace.makespan / trace.range->low; }

TEST(RunRanges, HoldTheProductsThatAGenericPartStandsFor) {
  // Memory is slower than cores, so that the CPU's generic figure is what binds.
  test::Server server;
  server.cpu.replace(server.cpu.find("200 GB/s"), 8, "8 GB/s");
  auto const exact = two_copies(Model(test::machine_of(server)));
  server.more_cpu = "spread: 3";
  auto const generic = two_copies(Model(test::machine_of(server)));
  EXPECT_EQ(generic.makespan, exact.makespan);
  EXPECT_GT(above(generic), 2 * above(exact));
  EXPECT_GT(below(generic), below(exact));
}

// Three copies out of one GPU at once, of so few bytes that starts are all they cost.
Trace three_copies(Model const& model) {
  std::vector<Job> jobs;
  for (auto const* to : {"gpu1", "gpu2", "gpu3"})
    jobs.push_back({to,
                    Request{.from = model.machine().place("gpu0"),
                            .to = model.machine().place(to),
                            .bytes = 4_KiB,
                            .only = Mechanism::PcieP2p},
                    {}});
  auto const plan = plan_job_set(model, {std::move(jobs)}, {Objective::Each});
  auto trace = test::estimated(model, plan);
  add_trace_ranges(trace, plan, model);
  return trace;
}

TEST(RunRanges, HoldTheNumberOfCopyEnginesThatNobodyPublished) {
  auto const known = three_copies(Model(test::machine_of({.more_gpu = "peer_copy_engines: 1"})));
  auto const unknown = three_copies(Model(test::machine_of({})));
  EXPECT_EQ(unknown.makespan, known.makespan) << "the usual number";
  EXPECT_GT(below(unknown), below(known) + 0.05) << "with more engines, no copy waits";
}

TEST(RunRanges, HoldTheLatenciesThatAGenericPartStandsFor) {
  test::Server server{.more_gpu = "copy_engines: 3"};
  auto const exact = three_copies(Model(test::machine_of(server)));
  server.more_cpu = "latency_spread: 3";
  auto const generic = three_copies(Model(test::machine_of(server)));
  EXPECT_EQ(generic.makespan, exact.makespan);
  EXPECT_GT(above(generic), above(exact));
}

}  // namespace
}  // namespace lanewise
