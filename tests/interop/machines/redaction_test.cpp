// Tests that what names a host is taken out, and that what describes it stays.
#include "core/interop/machines/redaction.hpp"

#include <nlohmann/json.hpp>

#include "tests/interop/import_test_support.hpp"

namespace lanewise {
namespace {

TEST(Redaction, TakesAddressesAndSerialsOut) {
  EXPECT_EQ(redacted_text("at 10.1.2.3 now"), "at redacted now");
  EXPECT_EQ(redacted_text("MAC 0c:42:a1:9f:00:1b."), "MAC redacted.");
  EXPECT_EQ(redacted_text("GPU-12345678-1234-1234-1234-123456789abc"), "GPU-redacted");
  EXPECT_EQ(redacted_text("guid 0c42:a103:0052:1f2e"), "guid redacted");
  EXPECT_EQ(redacted_text("guid 0x0c42a10300521f2e"), "guid redacted");
  EXPECT_EQ(redacted_text("fe80::e42:a1ff:fe9f:1b and ::"), "redacted and ::");
}

TEST(Redaction, KeepsPciAddressesIdsAndVersions) {
  for (auto const* text : {"0000:3b:00.0", "10000:01:00.0 10de:2330", "driver 550.54.15", "0x060400", "gen5 x16",
                           "pci0000-3b", "0-27,56-83", "NUMA node 1", "15.753846"})
    EXPECT_EQ(redacted_text(text), text);
}

TEST(Redaction, GivesTheMachineAnotherName) {
  auto catalogue = bundled();
  auto machine = catalogue.machine("hgx-h100");
  machine.name = machine.hosts.front().machine = "node7";
  machine.notes = {"node7 has two sockets", "eth0 is 192.168.0.7"};
  auto const hidden = redacted_machine(machine);
  EXPECT_EQ(hidden.name, "machine");
  EXPECT_EQ(hidden.hosts.front().machine, "machine");
  EXPECT_EQ(hidden.notes, (std::vector<std::string>{"machine has two sockets", "eth0 is redacted"}));
  EXPECT_EQ(hidden.functions, machine.functions);
  expect_reads_back(hidden, catalogue);
}

TEST(Redaction, ANameIsAWordOfItsOwn) {
  auto catalogue = bundled();
  auto machine = catalogue.machine("hgx-h100");
  machine.name = "smi";  // of a file smi.xml
  machine.notes = {"'nvidia-smi -q -x' on smi, smi-ib0 and smi.lab; smith too"};
  EXPECT_EQ(redacted_machine(machine).notes.front(),
            "'nvidia-smi -q -x' on machine, machine-ib0 and machine.lab; smith too");
}

TEST(Redaction, DropsSecretValuesOfTrees) {
  nlohmann::ordered_json const tree{
      {"uuid", "abc"}, {"bdf", "0000:3b:00.0"}, {"nics", {{{"guid", ""}, {"name", "mlx5_0"}}}}};
  auto const hidden = redacted_tree(tree);
  EXPECT_EQ(hidden["uuid"], "redacted");
  EXPECT_EQ(hidden["bdf"], "0000:3b:00.0");
  EXPECT_EQ(hidden["nics"][0]["guid"], "");
  EXPECT_EQ(hidden["nics"][0]["name"], "mlx5_0");
}

}  // namespace
}  // namespace lanewise
