#include "core/measurement/request.hpp"

namespace lanewise {

std::vector<Request> requests_of(MeasuredSeries const& series, MeasuredPoint const& point, Machine const& machine) {
  std::vector<Request> requests;
  for (auto const& flow : point.flows) {
    Request request;
    request.id = std::to_string(requests.size());
    request.from = machine.place(flow.from);
    request.to = machine.place(flow.to);
    request.bytes = point.bytes_of(flow);
    request.op = series.op;
    request.only = series.mechanism;
    if (series.pulled) request.drive = Drive::Pull;
    request.pageable = series.pageable;
    request.queue_pairs = series.queue_pairs;
    request.by_driver = series.by_driver;
    request.access = point.access;
    requests.push_back(std::move(request));
  }
  return requests;
}

}  // namespace lanewise
