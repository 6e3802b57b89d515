#include "core/interop/host/stand_ins.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lanewise {
namespace {

using testing::HasSubstr;

PciFacts function(std::string bdf, std::string id) {
  PciFacts facts;
  facts.bdf = std::move(bdf);
  facts.id = std::move(id);
  return facts;
}

HostFacts guest() {
  HostFacts facts;
  facts.pci = {function("0000:01:00.0", "1b36:000c"), function("0000:02:00.0", "1af4:1110"),
               function("0000:03:00.0", "1af4:1041")};
  return facts;
}

TEST(RolesOfAGuest, FitItsStandIns) {
  std::vector<Role> const roles{{"0000:00:1f.0", "emulator.chipset", RoleKind::Platform, "", ""},
                                {"0000:01:00.0", "rp0", RoleKind::RootPort, "", ""},
                                {"0000:02:00.0", "gpu0", RoleKind::Gpu, "a30", ""},
                                {"0000:03:00.0", "nic0", RoleKind::Nic, "connectx-7-ndr", ""}};
  EXPECT_EQ(misfit_of_roles(roles, guest()), "");
}

TEST(RolesOfAGuest, DoNotFitAnotherMachine) {
  auto facts = guest();
  facts.pci[1].id = "10de:2330";  // a real GPU, where the file was left behind
  EXPECT_THAT(misfit_of_roles({{"0000:02:00.0", "gpu0", RoleKind::Gpu, "a30", ""}}, facts),
              HasSubstr("0000:02:00.0, its gpu0, is 10de:2330, not the stand-in 1af4:1110"));
  EXPECT_THAT(misfit_of_roles({{"0000:09:00.0", "gpu0", RoleKind::Gpu, "a30", ""}}, facts), HasSubstr("is not there"));
  // A NIC's stand-in does not become a GPU.
  EXPECT_THAT(misfit_of_roles({{"0000:03:00.0", "gpu0", RoleKind::Gpu, "a30", ""}}, facts), HasSubstr("1af4:1041"));
}

}  // namespace
}  // namespace lanewise
