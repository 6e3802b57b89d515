#pragma once
#include <optional>
#include <string>

#include "lanewise/machine/part.hpp"

namespace lanewise {

// The links that boards with this CPU usually have between two sockets; for sources that do not say.
struct UsualSocketLink {
  std::string part;  // "upi-11.2"
  int count = 1;
};
// nullopt when it is not known for this CPU.
std::optional<UsualSocketLink> usual_socket_link(Part const& cpu);

}  // namespace lanewise
