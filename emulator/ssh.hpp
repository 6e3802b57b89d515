#pragma once
// ssh between the guests, as between the nodes of a cluster: a key that is made for one run and lives in the guests'
// memory only.
#include <string>

#include "emulator/guest_config.hpp"

namespace lanewise::emulator {

// The home folder of the guests' root user, who has none of the host's files of root.
inline constexpr char kGuestHome[] = "/run/lanewise/home";

// A fresh key and the files that let every node in with it.
class SshAccess {
 public:
  // What keeps ssh from working between the guests, and what to install; empty when nothing does.
  static std::string missing();
  static SshAccess make();
  void add_to(GuestConfig& config) const;

 private:
  std::string private_key_, public_key_;
};

// The host's users with another home for root.
std::string users_with_home(std::string const& passwd);

}  // namespace lanewise::emulator
