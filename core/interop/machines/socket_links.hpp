#pragma once
#include <optional>
#include <string>

#include "core/machine/part.hpp"

namespace lanewise {

// The links between two sockets that boards with this CPU usually have; for importers of files that do not say.
struct UsualSocketLink {
  std::string part;  // "upi-11.2"
  int count = 1;
};
std::optional<UsualSocketLink> usual_socket_link(Part const& cpu);

}  // namespace lanewise
