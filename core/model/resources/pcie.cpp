#include "core/model/resources/pcie.hpp"

#include <algorithm>

namespace lanewise::pcie {

BytesPerSecond raw_rate(PcieLink link) {
  double const encoding = link.generation <= 2 ? 8.0 / 10 : link.generation <= 5 ? 128.0 / 130 : 242.0 / 256;
  return BytesPerSecond(gigatransfers_per_second(link.generation) * 1e9 * link.width * encoding / 8);
}

double packet_efficiency(int generation, Bytes payload) {
  double const bytes = static_cast<double>(std::max<std::int64_t>(payload.value(), 1));
  double const header = generation <= 2 ? 24 : 26;
  constexpr double kLinkLayerShare = 16.0 / 4;
  double const flit = generation >= 6 ? 236.0 / 242 : 1.0;  // encoding already counts 242 of 256
  return flit * bytes / (bytes + header + kLinkLayerShare);
}

double link_utilisation(int generation) { return generation <= 4 ? 0.93 : 0.98; }

BytesPerSecond capacity(PcieLink link, Bytes payload) {
  return capacity(link, payload, link_utilisation(link.generation));
}

BytesPerSecond capacity(PcieLink link, Bytes payload, double utilisation) {
  return raw_rate(link) * (packet_efficiency(link.generation, payload) * utilisation);
}

double packet_penalty(int generation, Bytes payload, Bytes nominal) {
  return packet_efficiency(generation, nominal) / packet_efficiency(generation, payload);
}

double read_request_share(Bytes max_read_request) {
  constexpr double kRequestBytes = 24;
  return kRequestBytes / static_cast<double>(std::max<std::int64_t>(max_read_request.value(), 1));
}

BytesPerSecond outstanding_read_limit(int tags, Bytes request, Seconds round_trip) {
  return (request * tags) / round_trip;
}

}  // namespace lanewise::pcie
