#include "emulator/ssh.hpp"

#include <fmt/format.h>

#include <sstream>

#include "lanewise/io/error.hpp"
#include "process/file_content.hpp"
#include "process/process.hpp"
#include "process/temporary_folder.hpp"

namespace lanewise::emulator {
namespace {

using namespace std::chrono_literals;

// When the command returns the server's port listens: both servers go to the background only after that.
std::string server_command() {
  std::string const key = "/run/lanewise/host_key";
  if (auto const dropbear = find_program("dropbear"))
    return fmt::format("dropbearkey -t ed25519 -f {0} >/dev/null 2>&1 && {1} -r {0} -s -P /run/lanewise/dropbear.pid",
                       key, dropbear->string());
  return fmt::format(
      "mkdir -p /run/sshd && ssh-keygen -q -t ed25519 -N '' -f {0} && {1} -h {0} -o PidFile=none -o StrictModes=no "
      "-o PermitRootLogin=yes -o UsePAM=no -o PasswordAuthentication=no",
      key, find_program("sshd").value_or("sshd").string());
}

}  // namespace

std::string SshAccess::missing() {
  if (!find_program("ssh") || !find_program("ssh-keygen"))
    return "no ssh client; the package openssh-client provides it";
  if (!find_program("dropbear") && !find_program("sshd")) return "no ssh server; the package dropbear-bin provides one";
  return "";
}

SshAccess SshAccess::make() {
  TemporaryFolder const folder("key");
  auto const file = folder.path() / "key";
  auto const made =
      run_program({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lanewise", "-f", file.string()}, 20s);
  SshAccess access;
  access.private_key_ = content_of(file);
  access.public_key_ = content_of(file.string() + ".pub");
  if (made.code != 0 || access.private_key_.empty())
    throw MissingError(fmt::format("no ssh key for the guests: ssh-keygen: {}", made.output));
  return access;
}

void SshAccess::add_to(GuestConfig& config) const {
  auto const folder = std::string(kGuestHome) + "/.ssh/";
  config.files.push_back({folder + "id_ed25519", private_key_, 0600});
  config.files.push_back({folder + "authorized_keys", public_key_, 0600});
  config.files.push_back({folder + "config",
                          fmt::format("Host *\n  IdentityFile {}id_ed25519\n  StrictHostKeyChecking no\n"
                                      "  UserKnownHostsFile /dev/null\n  LogLevel ERROR\n  ConnectTimeout 20\n",
                                      folder),
                          0600});
  config.services.push_back(server_command());
}

std::string users_with_home(std::string const& passwd) {
  std::istringstream in(passwd);
  std::string out;
  for (std::string line; std::getline(in, line);)
    if (!line.starts_with("root:")) out += line + "\n";
  return fmt::format("root:x:0:0:root:{}:/bin/bash\n{}", kGuestHome, out);
}

}  // namespace lanewise::emulator
