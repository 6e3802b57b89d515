#include "core/interop/machines/roles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

std::vector<Role> roles_from(std::string const& text) {
  return read_roles(SourceText::from_memory("roles.yaml", text)).roles;
}

TEST(Roles, AreReadByTheirAddress) {
  auto const roles = roles_from(
      "lanewise: roles/1\n"
      "roles:\n"
      "  - {bdf: \"0000:11:00.0\", name: gpu0, kind: gpu, part: a100-pcie-80g}\n"
      "  - {bdf: \"0000:21:1f.7\", name: nic0, kind: nic, device_name: mlx5_0}\n");
  ASSERT_EQ(roles.size(), 2U);
  ASSERT_NE(find_role(roles, "0000:11:00.0"), nullptr);
  EXPECT_EQ(*find_role(roles, "0000:11:00.0"), (Role{"0000:11:00.0", "gpu0", RoleKind::Gpu, "a100-pcie-80g", ""}));
  EXPECT_EQ(roles[1], (Role{"0000:21:1f.7", "nic0", RoleKind::Nic, "", "mlx5_0"}));
  EXPECT_EQ(find_role(roles, "0000:12:00.0"), nullptr);
}

TEST(Roles, ReadBackAsWritten) {
  std::vector<Role> const roles{{"0000:10:00.0", "rp0", RoleKind::RootPort, "", ""},
                                {"0000:11:00.0", "node1/gpu0", RoleKind::Gpu, "a30", ""},
                                {"0000:00:02.0", "root_share", RoleKind::Platform, "", ""},
                                {"0000:12:00.0", "nic0", RoleKind::Nic, "connectx-7", "mlx5_0"}};
  EXPECT_EQ(roles_from(write_roles({roles, {}, {}, {}})), roles);
  EXPECT_TRUE(roles_from(write_roles({})).empty());
}

TEST(Roles, CarryTheCpusAndThePartsOfTheMachineFile) {
  RolesFile file;
  file.roles.push_back({"0000:11:00.0", "gpu0", RoleKind::Gpu, "my-gpu", ""});
  file.cpus = {"epyc-7742", "unknown"};
  Part part;
  part.name = "my-gpu";
  part.title = "a GPU that no catalogue has";
  part.kind = PartKind::Gpu;
  part.inlined = true;
  part.pcie.link = PcieLink{4, 16};
  part.gpu.chip = "ga100";
  file.parts.push_back(part);
  file.not_expressed = {{"nvlink", "", "", "QEMU has none"}, {"numa", "numa0", "cores", "a core each"}};
  EXPECT_EQ(read_roles(SourceText::from_memory("roles.yaml", write_roles(file))), file);
  test::expect_errors(
      "lanewise: roles/1\n"
      "roles: []\n"
      "parts: {my-gpu: {kind: gpu, §chpi: ga100}}\n",
      {"did you mean 'chip'"}, [](SourceText const& source) { read_roles(source); });
}

TEST(Roles, ErrorsNameLineAndColumn) {
  test::expect_errors(
      "lanewise: roles/1\n"
      "roles:\n"
      "  - {bdf: §11:00.0, name: gpu0, kind: gpu}\n"
      "  - {bdf: \"0000:12:00.0\", name: gpu1, kind: §gppu}\n"
      "  - {bdf: \"0000:13:00.0\", §nmae: gpu2, name: gpu2, kind: gpu}\n"
      "  - {§bdf: \"0000:13:00.0\", §name: gpu1, kind: gpu}\n",
      {"'11:00.0' is not a PCI address", "did you mean 'gpu'", "did you mean 'name'", "0000:13:00.0 is already 'gpu2'",
       "'gpu1' is already 0000:12:00.0"},
      [](SourceText const& source) { read_roles(source); });
}

TEST(Roles, AnotherKindOfFileIsRefused) {
  EXPECT_THAT(test::input_error([] { roles_from("lanewise: machine/1\nmachine: m\n"); }),
              testing::HasSubstr("roles/1"));
}

TEST(PciAddress, IsWhatTheKernelWrites) {
  for (auto const* good : {"0000:3b:00.0", "0001:ff:1f.7", "10000:01:00.0"}) EXPECT_TRUE(is_pci_address(good)) << good;
  for (auto const* bad : {"", "3b:00.0", "0000:3b:20.0", "0000:3b:00.8", "0000:3B:00.0", "0000:3b:00.0 ",
                          "000g:3b:00.0", "0000:3b:00:0", "0000.3b.00.0"})
    EXPECT_FALSE(is_pci_address(bad)) << bad;
}

}  // namespace
}  // namespace lanewise
