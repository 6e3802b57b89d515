#pragma once
// ssh between the guests, with a key that is made for one run and exists only in the guests' memory.
#include <string>

#include "emulator/guest_config.hpp"

namespace lanewise::emulator {

// The home folder of root in the guests. It is empty at first: none of the host's files for root are there.
inline constexpr char kGuestHome[] = "/run/lanewise/home";

// A new key and the files that give every node access with it.
class SshAccess {
 public:
  // Why ssh cannot work between the guests, and what to install; empty when it can.
  static std::string missing();
  static SshAccess make();
  void add_to(GuestConfig& config) const;

 private:
  std::string private_key_, public_key_;
};

// The host's /etc/passwd with kGuestHome as the home of root.
std::string users_with_home(std::string const& passwd);

}  // namespace lanewise::emulator
