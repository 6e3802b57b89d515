#include "core/machine/nvlink_domains.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/machine/path_class.hpp"
#include "lanewise/machine/catalogue.hpp"
#include "lanewise/machine/fingerprint.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/planner/planner.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using namespace literals;
using testing::HasSubstr;

Machine rack(std::string const& domains, int nodes = 4) {
  auto catalogue = test::bundled();
  return catalogue.machine_from(SourceText::from_memory(
      "rack.yaml", "lanewise: cluster/1\ncluster: rack\nnodes: [{machine: gb300x4, count: " + std::to_string(nodes) +
                       "}]\ndomains: [" + domains + "]\n"));
}
constexpr auto kWhole = "{domain: rack0, switch_part: nvswitch-4, generation: 5, count: 18}";

std::string domain_problem(std::string const& domains) {
  try {
    rack(domains);
  } catch (InputError const& error) {
    return error.what();
  }
  return "none";
}

TEST(NvlinkDomains, JoinGpusOfAllNodes) {
  auto const machine = rack(kWhole);
  ASSERT_EQ(machine.nvswitches.size(), 1U);  // a node's crossbar is its share of the domain
  EXPECT_EQ(machine.nvswitches[0].ports.size(), 16U);
  auto const a = *machine.find_function("node0/gpu1");
  auto const b = *machine.find_function("node3/gpu2");
  EXPECT_EQ(nvlink_count(machine, a, b), 18);
  EXPECT_EQ(first_nodes_of_domains(machine)[3], HostId(0));
}

TEST(NvlinkDomains, MoveDataBetweenNodesAsWithinOne) {
  Model const model(rack(kWhole));
  auto const& machine = model.machine();
  auto const time = [&](std::string const& from, std::string const& to) {
    auto const choice = Planner(model).choose({.from = machine.place(from), .to = machine.place(to), .bytes = 64_MiB});
    EXPECT_EQ(choice.evaluated.at(choice.chosen.value()).way.mechanism, Mechanism::Nvlink);
    return choice.evaluated.at(choice.chosen.value()).cost->time;
  };
  EXPECT_EQ(time("node0/gpu0", "node3/gpu1"), time("node0/gpu0", "node0/gpu1"));
}

TEST(NvlinkDomains, MayJoinSomeNodesEach) {
  auto const two =
      "{domain: a, nodes: [node0..node1], switch_part: nvswitch-4, generation: 5, count: 18}, "
      "{domain: b, nodes: [node2..node3], switch_part: nvswitch-4, generation: 5, count: 18}";
  EXPECT_THAT(domain_problem(two), HasSubstr("nothing joins node0 and node2"));
}

TEST(NvlinkDomains, SayWhatIsWrong) {
  auto const twice = std::string(kWhole) + ", {domain: b, switch_part: nvswitch-4, generation: 5, count: 1}";
  EXPECT_THAT(domain_problem(twice), HasSubstr("'node0/gpu0' is already in the domain 'rack0'"));
  EXPECT_THAT(domain_problem("{domain: r, nodes: [node0..node9], switch_part: nvswitch-4, generation: 5, count: 18}"),
              HasSubstr("no node is called 'node4'; there are node0 to node3"));
  EXPECT_THAT(domain_problem("{domain: r, gpus: [gpu7], switch_part: nvswitch-4, generation: 5, count: 18}"),
              HasSubstr("no node of this domain has a GPU called 'gpu7'"));
  EXPECT_THAT(domain_problem("{domain: r, switch_part: nvswitch-4, generation: 5, count: 20}"),
              HasSubstr("has 19 ports"));
  EXPECT_THAT(domain_problem("{domain: r, switch_part: nvswitch-4, count: 18}"), HasSubstr("needs 'generation: 1..5'"));
  EXPECT_THAT(domain_problem("{domain: r, switch_part: nvswitch-4, chips: 3, generation: 5, count: 18}"),
              HasSubstr("16 GPUs with 18 links each take 288 ports; 3 of 'nvswitch-4' have 216"));
}

TEST(NvlinkDomains, CountInTheFingerprint) {
  EXPECT_NE(fingerprint(rack(kWhole)),
            fingerprint(rack("{domain: rack0, switch_part: nvswitch-4, generation: 5, count: 17}")));
}

}  // namespace
}  // namespace lanewise
