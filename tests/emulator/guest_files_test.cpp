// What is put into a guest: the archive, modules in their order, the configuration, the users.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "emulator/guest_config.hpp"
#include "emulator/initramfs.hpp"
#include "emulator/kernel.hpp"
#include "emulator/qemu.hpp"
#include "emulator/ssh.hpp"
#include "lanewise/io/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace lanewise::emulator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Initramfs, AreAnArchiveInTheNewFormat) {
  Initramfs files;
  files.folder("dev");
  files.file("init", "#!/bin/sh\n", 0755);
  auto const archive = files.finish();
  EXPECT_EQ(archive.size() % 4, 0U);
  // A header of 110 characters, the name with its end, filled up to four: 116; then the next.
  EXPECT_EQ(archive.substr(0, 6), "070701");
  EXPECT_EQ(archive.substr(14, 8), "000041ed") << "a folder, rwxr-xr-x";
  EXPECT_EQ(archive.substr(94, 8), "00000004") << "the length of dev and its end";
  EXPECT_EQ(archive.substr(110, 3), "dev");
  EXPECT_EQ(archive.substr(116, 6), "070701");
  EXPECT_EQ(archive.substr(116 + 54, 8), "0000000a") << "the length of the content";
  EXPECT_EQ(archive.substr(232, 10), "#!/bin/sh\n");
  EXPECT_THAT(archive, HasSubstr("TRAILER!!!"));
}

TEST(Initramfs, AreReadByCpio) {
  if (std::system("command -v cpio >/dev/null") != 0) GTEST_SKIP() << "needs the package cpio";
  test::TemporaryFolder const folder;
  Initramfs files;
  files.folder("modules");
  files.file("modules/a.ko", std::string(1001, 'x'), 0644);
  files.file("config.json", "{}", 0600);
  auto const archive = folder.with("files.cpio", files.finish());
  auto const out = folder.path() / "out";
  std::filesystem::create_directory(out);
  ASSERT_EQ(std::system(("cd " + out.string() + " && cpio --quiet -i < " + archive.string()).c_str()), 0);
  EXPECT_EQ(std::filesystem::file_size(out / "modules/a.ko"), 1001U);
  EXPECT_EQ(std::filesystem::status(out / "config.json").permissions(), std::filesystem::perms(0600));
}

std::string module_with(std::string const& depends) {
  return std::string(
             "\x7f"
             "ELF...",
             7) +
         std::string("\0license=GPL\0depends=", 21) + depends + std::string("\0name=m\0", 8);
}

TEST(Modules, SayWhatTheyDependOn) {
  EXPECT_THAT(dependencies_of(module_with("ib_core,ip6_udp-tunnel")), ElementsAre("ib_core", "ip6_udp_tunnel"));
  EXPECT_THAT(dependencies_of(module_with("")), ElementsAre());
  EXPECT_THAT(dependencies_of("no module"), ElementsAre());
}

class KernelFolder : public testing::Test {
 protected:
  void SetUp() override {
    add("6.1.0-9", "kernel/net/9pnet.ko", "");
    add("6.1.0-9", "kernel/fs/9p.ko", "netfs,9pnet");
    add("6.1.0-9", "kernel/rdma_rxe.ko", "ib_core");
    add("6.1.0-9", "kernel/ib-core.ko", "");
    write("lib/modules/6.1.0-9/modules.builtin", "kernel/fs/netfs.ko\n");
    write("boot/vmlinuz-6.1.0-9", "kernel");
  }
  void add(std::string const& version, std::string const& file, std::string const& depends) const {
    write("lib/modules/" + version + "/" + file, module_with(depends));
  }
  void write(std::string const& name, std::string const& text) const { static_cast<void>(folder.with(name, text)); }
  test::TemporaryFolder folder;
};

TEST_F(KernelFolder, ModulesComeAfterWhatTheyNeed) {
  auto const kernel = kernel_under(folder.path());
  ASSERT_TRUE(kernel);
  std::vector<std::string> names;
  for (auto const& module : load_order(*kernel, {"9p", "rdma_rxe", "9pnet"}, {"crc32_generic"}))
    names.push_back(module.name);
  EXPECT_THAT(names, ElementsAre("9pnet.ko", "9p.ko", "ib_core.ko", "rdma_rxe.ko"));
}

TEST_F(KernelFolder, AModuleThatIsMissingIsNamed) {
  try {
    load_order(*kernel_under(folder.path()), {"rdma_ucm"});
    FAIL() << "found";
  } catch (MissingError const& error) {
    EXPECT_THAT(error.what(), HasSubstr("the kernel 6.1.0-9 has no module rdma_ucm"));
    EXPECT_THAT(error.what(), HasSubstr("install the package linux-image-amd64"));
  }
}

TEST_F(KernelFolder, TheNewestWithSoftRoceIsTaken) {
  add("6.1.0-10", "kernel/rdma_rxe.ko", "");
  write("boot/vmlinuz-6.1.0-10", "kernel");
  add("6.1.0-11-cloud", "kernel/9p.ko", "");  // without rxe
  write("boot/vmlinuz-6.1.0-11-cloud", "kernel");
  add("6.1.0-12", "kernel/rdma_rxe.ko", "");  // without an image
  EXPECT_EQ(kernel_under(folder.path())->version, "6.1.0-10");
  EXPECT_FALSE(kernel_under(folder.path() / "nowhere"));
}

// An image of this version, as far as its setup header tells.
std::string image_of(std::string const& version) {
  std::string image(1024, '\0');
  image.replace(0x202, 4, "HdrS");
  image[0x20e] = '\x40';  // at 0x240
  return image.replace(0x240, version.size(), version);
}

TEST_F(KernelFolder, AKernelOfTheUsersBringsItsModules) {
  write("boot/mine", image_of("6.1.0-9 (me@here) #1 SMP"));
  auto const kernel = kernel_from(folder.path() / "boot/mine", std::nullopt);
  EXPECT_EQ(kernel.version, "6.1.0-9");
  EXPECT_EQ(kernel.modules, folder.path() / "lib/modules/6.1.0-9");
  EXPECT_THAT(missing_modules(kernel, {"9p", "netfs", "nvme"}), ElementsAre("nvme"));
  std::vector<std::string> names;
  for (auto const& module : load_order(kernel, {"9p", "nvme"})) names.push_back(module.name);
  EXPECT_THAT(names, ElementsAre("9pnet.ko", "9p.ko")) << "nvme may be built in";

  write("boot/other", image_of("9.9.9"));
  EXPECT_TRUE(kernel_from(folder.path() / "boot/other", std::nullopt).modules.empty());
  EXPECT_EQ(kernel_from(folder.path() / "boot/other", folder.path() / "lib").modules, folder.path() / "lib");
}

TEST_F(KernelFolder, WhatIsNoKernelIsRefused) {
  write("boot/text", "#!/bin/sh\n");
  for (auto const* name : {"boot/text", "boot/nowhere", "boot"})
    EXPECT_THROW(kernel_from(folder.path() / name, std::nullopt), InputError) << name;
  write("boot/mine", image_of("6.1.0-9"));
  EXPECT_THROW(kernel_from(folder.path() / "boot/mine", folder.path() / "nowhere"), InputError);
}

TEST(GuestConfig, ReadsBackAsWritten) {
  GuestConfig config;
  config.host_name = "node1";
  config.hosts = {{"node0", "10.77.255.1"}};
  config.functions = {{"pci0000:01/0000:01:00.0", "rp0", std::uint16_t{0x1d}}, {"pci0000:01/0000:01:01.0", "rp1", {}}};
  config.nics = {{"pci0000:00/0000:00:07.0", "nic0", "10.77.0.1", "rxe_nic0"}};
  config.shares = {{"share0", "/", false}};
  config.files = {{"/etc/hosts", "127.0.0.1 localhost\n", 0644}};
  config.command = {"sh", "-c", "echo \"a b\"; exit 3"};
  config.environment = {"A=\xff"};  // no UTF-8
  auto const text = to_text(config);
  auto const again = guest_config_from(text);
  EXPECT_EQ(to_text(again), text);
  EXPECT_EQ(again.functions[0].acs, std::uint16_t{0x1d});
  EXPECT_FALSE(again.functions[1].acs);
  EXPECT_EQ(again.command, config.command);
}

TEST(Users, RootHasAHomeOfItsOwn) {
  EXPECT_EQ(users_with_home("root:x:0:0:root:/root:/bin/zsh\nsshd:x:1:1::/run/sshd:/bin/false\n"),
            "root:x:0:0:root:/run/lanewise/home:/bin/bash\nsshd:x:1:1::/run/sshd:/bin/false\n");
}

TEST(QemuHelp, SaysTheNewestLink) {
  EXPECT_EQ(newest_link_in("  x-speed=<PCIELinkSpeed> - 2_5/5/8/16 (default: \"16\")\n  x-width=<W> - 1/2/4/8/12\n"),
            4);
  EXPECT_EQ(newest_link_in("  x-speed=<PCIELinkSpeed> - 2_5/5/8/16/32/64 (default: \"16\")\n"), 6);
  EXPECT_EQ(newest_link_in("no such device"), 0);
}

}  // namespace
}  // namespace lanewise::emulator
