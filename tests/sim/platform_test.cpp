// The SimGrid platform that `export simgrid` writes, loaded and run by SimGrid.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "core/interop/exports/simgrid.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/planner/planner.hpp"
#include "sim/simgrid_compat.hpp"
#include "tests/support/parameter_name.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise::sim {
namespace {

namespace s4u = simgrid::s4u;
using namespace literals;

// SimGrid takes one platform a process, so each test runs in a child of its own.
#define EXPECT_IN_A_CHILD(call)                          \
  EXPECT_EXIT(                                           \
      {                                                  \
        call;                                            \
        std::_Exit(testing::Test::HasFailure() ? 1 : 0); \
      },                                                 \
      testing::ExitedWithCode(0), "")

void compare_routes(char const* name) {
  Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  Model const model(catalogue.machine(name));
  auto const& machine = model.machine();
  Planner const planner(model);
  test::TemporaryFolder const folder;
  auto const file = folder.with("platform.xml", simgrid_platform(model)).string();

  s4u::Engine engine("platform");
  engine.load_platform(file);
  int compared = 0;
  for (auto const from : machine.all(PciKind::Gpu))
    for (auto const to : machine.all(PciKind::Gpu)) {
      if (from == to) continue;
      Request const request{.id = "there", .from = from, .to = to, .bytes = 256_MiB, .op = Op::Copy};
      auto const choice = planner.choose(request);
      ASSERT_TRUE(choice.chosen);
      auto const& chosen = choice.evaluated[*choice.chosen];
      if (!chosen.cost) continue;
      std::vector<s4u::Link*> links;
      double latency = 0;
      s4u::Host::by_name(machine.at(from).name)->route_to(s4u::Host::by_name(machine.at(to).name), links, &latency);
      ASSERT_FALSE(links.empty());
      auto const narrowest = *std::min_element(links.begin(), links.end(), [](auto const* a, auto const* b) {
        return a->get_bandwidth() < b->get_bandwidth();
      });
      auto const demand = model.lower(from, to, 256_MiB, Op::Copy, chosen.way);
      EXPECT_NEAR(narrowest->get_bandwidth() / chosen.cost->rate.value(), 1, 1e-9);
      EXPECT_NEAR(latency, demand.latency().value(), 1e-12);
      ++compared;
    }
  EXPECT_GT(compared, 0);
}

class Platforms : public testing::TestWithParam<char const*> {};
TEST_P(Platforms, RoutesHaveRateAndLatencyOfTheModelsCopies) { EXPECT_IN_A_CHILD(compare_routes(GetParam())); }
INSTANTIATE_TEST_SUITE_P(Machines, Platforms,
                         testing::Values("hgx-h100", "dgx-1-v100", "a100x8-pcie-4sw", "rtx4090-x2", "gh200x4"),
                         [](auto const& tested) { return test::parameter_name(tested.param); });

void run_a_copy() {
  Catalogue catalogue({LANEWISE_SOURCE_DIR "/topologies"});
  Model const model(catalogue.machine("a100x8-pcie-4sw"));
  auto const& machine = model.machine();
  auto const gpus = machine.all(PciKind::Gpu);
  Request const request{.id = "there", .from = gpus[0], .to = gpus[1], .bytes = 256_MiB, .op = Op::Copy};
  auto const choice = Planner(model).choose(request);
  auto const& chosen = choice.evaluated[choice.chosen.value()];
  test::TemporaryFolder const folder;
  auto const file = folder.with("platform.xml", simgrid_platform(model)).string();

  s4u::Engine engine("platform");
  engine.load_platform(file);
  auto comm = s4u::Comm::sendto_init(s4u::Host::by_name("gpu0"), s4u::Host::by_name("gpu1"));
  comm->set_payload_size(static_cast<double>(Bytes(256_MiB).value()));
  compat::start_once(comm);
  engine.run();
  EXPECT_NEAR(s4u::Engine::get_clock() / chosen.cost->time.value(), 1, 1e-6);
}
TEST(Platform, ACopyTakesTheTimeOfTheModel) { EXPECT_IN_A_CHILD(run_a_copy()); }

}  // namespace
}  // namespace lanewise::sim
