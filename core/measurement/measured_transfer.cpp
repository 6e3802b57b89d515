#include "core/measurement/measured_transfer.hpp"

#include "core/planner/nic_selection.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise {
Place place_at(Machine const& machine, std::string const& name, SourcePos const& pos) {
  try {
    return machine.place(name);
  } catch (InputError const& error) {
    refuse_at(pos, error.what());
  }
}

Request request_of(Machine const& machine, MeasuredSeries const& series, MeasuredPoint const& point,
                   MeasuredFlow const& flow) {
  Request request;
  request.from = place_at(machine, flow.from, point.pos);
  request.to = place_at(machine, flow.to, point.pos);
  request.bytes = point.bytes_of(flow);
  request.op = series.op;
  request.only = series.mechanism;
  if (series.pulled) request.drive = Drive::Pull;
  request.pageable = series.pageable;
  request.queue_pairs = series.queue_pairs;
  request.cores = series.cores;
  request.by_driver = series.by_driver;
  request.access = point.access;
  if (!flow.nics.empty()) {
    try {
      request.nics = named_nics(machine, request.from, request.to, flow.nics.front(), flow.nics.back());
    } catch (InputError const& error) {
      refuse_at(point.pos, error.what());
    }
  }
  return request;
}

std::vector<Request> requests_of(Machine const& machine, MeasuredSeries const& series, MeasuredPoint const& point) {
  std::vector<Request> requests;
  for (auto const& flow : point.flows) {
    requests.push_back(request_of(machine, series, point, flow));
    requests.back().id = std::to_string(requests.size() - 1);
  }
  return requests;
}

std::optional<double> predicted_alone(Model const& model, MeasuredSeries const& series, Request const& request,
                                      Way const& way) {
  auto const demand = model.lower(request.from, request.to, request.bytes, request.op, way);
  auto const cost = model.cost(demand, request.bytes);
  if (!cost) return std::nullopt;
  if (series.quantity == MeasuredQuantity::Bandwidth)
    return (series.pipelined ? *model.throughput(demand, request.bytes) : request.bytes / cost->time).value();
  if (series.quantity == MeasuredQuantity::Makespan) return cost->time.value();
  if (series.pipelined) return (request.bytes / *model.throughput(demand, request.bytes)).value();
  if (way.mechanism == Mechanism::BarCopy && std::holds_alternative<NumaId>(request.from))
    return (cost->time - demand.path).value();  // the CPU does not wait for what it posted
  return model.observed_latency(demand, *cost, request.op, way).value();
}

}  // namespace lanewise
