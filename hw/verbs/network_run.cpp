#include "hw/verbs/network_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/io/error.hpp"
#include "core/io/interrupt.hpp"

namespace lanewise::hw {
namespace {

// How often the other processes and the user are asked whether it goes on; and after how many rounds in which nothing
// was done the clock is read for that: a clock can cost more than a round (in a virtual machine, a hundred times as
// much).
constexpr Seconds kLookEvery{10e-3};
constexpr int kRoundsALook = 64;
// Every how manieth request completes, so that room for others is seen in time.
constexpr std::uint64_t kSignalEvery = 16;

// An immediate: what it says in the upper bits, of which step in the lower.
constexpr int kNewsShift = 28;
constexpr std::uint32_t kStepMask = (1U << kNewsShift) - 1;

}  // namespace

NetworkRun::NetworkRun(NetworkPlan const& plan, Layout const& layout, std::vector<StepPart> parts,
                       MessageTransport& transport, Group& group, Seconds stall_limit)
    : plan_(plan),
      layout_(layout),
      parts_(std::move(parts)),
      transport_(transport),
      group_(group),
      rank_(group.rank()),
      stall_limit_(stall_limit) {
  if (plan.steps.size() > kStepMask) throw PlanError("the plan has more steps than an immediate can number");
  queues_.resize(layout.links.size());
  for (std::size_t link = 0; link < queues_.size(); ++link)
    queues_[link].resize(static_cast<std::size_t>(transport.queues(LinkId(link))));
}

void NetworkRun::prepare() {
  auto dag = dag_of_after(plan_.steps);
  require_acyclic(dag);
  runner_.emplace(std::move(dag));
  ready_.clear();
  rings_.clear();
  progress_.assign(plan_.steps.size(), {});
  told_ = 0;
  left_ = 0;
  for (std::size_t i = 0; i < plan_.steps.size(); ++i)
    if (drives(i) || receives(i)) ++left_;
  for (std::size_t i = 0; i < plan_.steps.size(); ++i)
    if (receives(i) && plan_.steps[i].staging == Staging::Chunks) rings_.push_back(i);
  expect_arrivals();
}

std::vector<StepSpan> NetworkRun::once(Seconds release) {
  while (monotonic_now() < release) {
  }
  release_ = release;
  moved_ = looked_ = monotonic_now();
  runner_->begin([this](StepId id) { step_ready(id); });
  start_ready();
  while (!finished()) {
    bool moved = poll();
    moved |= turn_rings();
    start_ready();
    check_patience(moved);
    if (!moved) transport_.wait_briefly();
  }
  std::vector<StepSpan> spans;
  for (auto const& progress : progress_) spans.push_back(progress.span);
  return spans;
}

// Immediates take a receive each: as many are kept in every queue pair as it holds. Messages come in their order.
void NetworkRun::expect_arrivals() {
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    if (layout_.links[i].for_messages || dead_.contains(LinkId(i))) continue;
    for (std::size_t queue = 0; queue < queues_[i].size(); ++queue)
      for (auto& given = queues_[i][queue].expected; given < transport_.depth(LinkId(i)).receive; ++given)
        transport_.post_receive(LinkId(i), static_cast<int>(queue), nullptr, 0, 0);
  }
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    auto const& step = plan_.steps[i];
    if (step.verb != Verb::Send || !receives(i) || dead_.contains(layout_.steps[i].links[0])) continue;
    auto const messages = messages_of(step);
    for (std::int64_t m = 0; m < messages.count; ++m) {
      auto const offset = m * kMaxMessageBytes;
      transport_.post_receive(layout_.steps[i].links[0], static_cast<int>(m % messages.queues),
                              parts_[i].tracks[0].local + offset, parts_[i].tracks[0].local_key,
                              static_cast<std::uint32_t>(std::min(kMaxMessageBytes, step.bytes - offset)));
    }
  }
}

// ------------------------------------------------------------------------------------------------------------ sending

void NetworkRun::start_ready() {
  while (!ready_.empty()) {
    auto const step = ready_.front();
    ready_.pop_front();
    if (drives(step)) start(step);
  }
}

void NetworkRun::start(std::size_t step) {
  progress_[step].span.start = monotonic_now() - release_;
  if (plan_.steps[step].verb == Verb::Local) return copy_locally(step);
  if (plan_.steps[step].staging == Staging::Chunks) {
    if (!living_track(step)) return send_again(step, "its link had failed");
    rings_.push_back(step);
    return;
  }
  send(step);
}

void NetworkRun::copy_locally(std::size_t step) {
  auto const& part = parts_[step];
  part.target->begin_copy_in(part.source->data(), 0, static_cast<std::size_t>(plan_.steps[step].bytes));
  over(step);
}

std::optional<std::size_t> NetworkRun::living_track(std::size_t step) const {
  auto const& links = layout_.steps[step].links;
  for (std::size_t k = 0; k < links.size(); ++k)
    if (!dead_.contains(links[k]) && !queues_[index(links[k])].empty()) return k;
  return std::nullopt;
}

void NetworkRun::send(std::size_t step) {
  auto const track = living_track(step);
  if (!track) throw DeviceError(fmt::format("step '{}'", plan_.steps[step].transfer), ENETDOWN, "no link is left");
  progress_[step].track = *track;
  if (*track == 0) return order_messages(step, messages_of(plan_.steps[step]).queues, Notification::Arrived);
  order_messages(step, 1, Notification::ArrivedWhole);
}

void NetworkRun::order_messages(std::size_t number, int queues, Notification news) {
  auto const& step = plan_.steps[number];
  auto const track = progress_[number].track;
  auto const& ends = parts_[number].tracks[track];
  auto const link = layout_.steps[number].links[track];
  auto const all = static_cast<int>(queues_[index(link)].size());
  auto const count = messages_of(step).count;
  // Messages of a link of their own begin with its first queue pair, as their receives do.
  auto const first = layout_.links[index(link)].for_messages ? 0 : next_queue_++;
  progress_[number].lasts = queues;
  for (std::int64_t m = 0; m < count; ++m) {
    auto const offset = m * kMaxMessageBytes;
    PendingRequest order;
    order.step = number;
    order.last = m + queues >= count;
    order.request = {step.verb,
                     ends.local + offset,
                     ends.local_key,
                     ends.remote + static_cast<std::uint64_t>(offset),
                     ends.remote_key,
                     static_cast<std::uint32_t>(std::min(kMaxMessageBytes, step.bytes - offset)),
                     {},
                     order.last,
                     0};
    if (step.verb == Verb::Send && news == Notification::ArrivedWhole) order.request.verb = Verb::Write;
    if (step.verb != Verb::Read && order.last) order.news = news;
    put(link, (first + static_cast<int>(m % queues)) % all, order);
  }
}

void NetworkRun::tell(std::size_t step, int listener) {
  for (std::size_t i = 0; i < layout_.links.size(); ++i) {
    auto const& link = layout_.links[i];
    bool const joins =
        (link.ranks[0] == rank_ && link.ranks[1] == listener) || (link.ranks[1] == rank_ && link.ranks[0] == listener);
    if (!joins || link.for_messages || dead_.contains(LinkId(i)) || queues_[i].empty()) continue;
    PendingRequest order{step, Notification::Over, false, listener, {}};
    order.request.signalled = true;
    ++told_;
    return put(LinkId(i), 0, order);
  }
  throw DeviceError(fmt::format("step '{}'", plan_.steps[step].transfer), ENETDOWN,
                    fmt::format("no link is left to tell process {} that it is done", listener));
}

void NetworkRun::put(LinkId link, int queue, PendingRequest order) {
  if (order.news != Notification::None)
    order.request.immediate =
        (static_cast<std::uint32_t>(order.news) << kNewsShift) | static_cast<std::uint32_t>(order.step);
  at(link, queue).waiting.push_back(order);
  pump(link, queue);
}

void NetworkRun::pump(LinkId link, int number) {
  auto& queue = at(link, number);
  while (!queue.waiting.empty() && static_cast<int>(queue.posted.size()) < transport_.depth(link).send) {
    auto& order = queue.waiting.front();
    order.request.number = ++queue.numbers;
    order.request.signalled |= order.request.number % kSignalEvery == 0;
    transport_.post(link, number, order.request);
    queue.posted.push_back(order);
    queue.waiting.pop_front();
  }
}

// --------------------------------------------------------------------------------------------------------- completions

bool NetworkRun::poll() {
  done_.clear();
  transport_.poll(done_);
  for (auto const& done : done_) {
    if (dead_.contains(done.link)) continue;
    if (!done.problem.empty())
      failed(done.link, fmt::format("{}: {}", transport_.text(done.link, done.queue), done.problem));
    else if (done.arrival)
      arrived(done);
    else
      acknowledged(done);
  }
  return !done_.empty();
}

void NetworkRun::acknowledged(WorkCompletion const& done) {
  auto& queue = at(done.link, done.queue);
  while (!queue.posted.empty() && queue.posted.front().request.number <= done.number) {
    auto const order = queue.posted.front();
    queue.posted.pop_front();
    completed(order);
  }
  pump(done.link, done.queue);
}

void NetworkRun::completed(PendingRequest const& order) {
  auto& progress = progress_[order.step];
  if (order.news == Notification::Over) --told_;
  if (order.news == Notification::Chunk) ++progress.acknowledged;
  if (order.last && --progress.lasts == 0) over(order.step);
}

void NetworkRun::arrived(WorkCompletion const& done) {
  auto const step = static_cast<std::size_t>(done.immediate & kStepMask);
  auto const news = static_cast<Notification>(done.immediate >> kNewsShift);
  if (step >= plan_.steps.size())
    throw DeviceError(transport_.text(done.link, done.queue), EPROTO, "an unknown message");
  if (!layout_.links[index(done.link)].for_messages) transport_.post_receive(done.link, done.queue, nullptr, 0, 0);
  auto& progress = progress_[step];
  switch (news) {
    case Notification::None: break;
    case Notification::Arrived:
      if (++progress.arrivals == messages_of(plan_.steps[step]).queues) landed(step);
      break;
    case Notification::ArrivedWhole: landed(step); break;
    case Notification::Over: over(step); break;
    case Notification::Chunk: ++progress.landed; break;
    case Notification::Taken: ++progress.taken; break;
  }
}

// All bytes are at this end, maybe for the second time.
void NetworkRun::landed(std::size_t step) {
  if (!progress_[step].over) over(step);
}

void NetworkRun::over(std::size_t step) {
  auto& progress = progress_[step];
  progress.over = true;
  if (drives(step) || receives(step)) --left_;
  progress.span.end = monotonic_now() - release_;
  if (drives(step))
    for (auto const listener : layout_.steps[step].listeners) tell(step, listener);
  runner_->finished(StepId(step), [this](StepId id) { step_ready(id); });
}

// --------------------------------------------------------------------------------------------------------------- rings

bool NetworkRun::turn_rings() {
  bool moved = false;
  for (auto const step : rings_) moved |= drives(step) ? fill_ring(step) : drain_ring(step);
  std::erase_if(rings_, [this](std::size_t step) { return progress_[step].over; });
  return moved;
}

// A chunk may be copied into a slot once what was there before is on the other side, and written once the other side's
// slot is free.
bool NetworkRun::fill_ring(std::size_t number) {
  auto const& step = plan_.steps[number];
  auto& progress = progress_[number];
  auto const& part = parts_[number];
  auto const chunks = messages_of(step).count;
  auto const length = [&](std::int64_t chunk) { return std::min(step.chunk, step.bytes - chunk * step.chunk); };
  bool const copies = part.ring != nullptr;
  bool moved = false;
  if (progress.copying && part.source->copied()) {
    progress.copying = false;
    ++progress.filled;
    moved = true;
  }
  if (copies && !progress.copying && progress.filled < chunks && progress.filled < progress.acknowledged + step.slots) {
    part.source->begin_copy_out(part.ring + progress.filled % step.slots * step.chunk,
                                static_cast<std::size_t>(progress.filled * step.chunk),
                                static_cast<std::size_t>(length(progress.filled)));
    progress.copying = true;
    moved = true;
  }
  auto const ready = copies ? progress.filled : chunks;
  while (progress.written < ready && progress.written < progress.taken + step.slots) {
    auto const chunk = progress.written++;
    auto const& track = part.tracks[0];
    auto const place = [&](bool in_ring) { return (in_ring ? chunk % step.slots : chunk) * step.chunk; };
    PendingRequest order{number, Notification::Chunk, false, -1, {}};
    order.request = {Verb::Write,
                     track.local + place(copies),
                     track.local_key,
                     track.remote + static_cast<std::uint64_t>(place(!step.ring_to.empty())),
                     track.remote_key,
                     static_cast<std::uint32_t>(length(chunk)),
                     {},
                     true,
                     0};
    put(layout_.steps[number].links[0], 0, order);
    moved = true;
  }
  if (progress.taken == chunks && progress.acknowledged == chunks && !progress.over) over(number);
  return moved;
}

bool NetworkRun::drain_ring(std::size_t number) {
  auto const& step = plan_.steps[number];
  auto& progress = progress_[number];
  auto const& part = parts_[number];
  auto const take = [&] {
    ++progress.taken;
    PendingRequest order{number, Notification::Taken, false, -1, {}};
    order.request.signalled = true;
    put(layout_.steps[number].links[0], 0, order);
    if (progress.taken == messages_of(step).count) over(number);
  };
  if (part.ring == nullptr) {  // it lands where it belongs
    if (progress.taken == progress.landed) return false;
    take();
    return true;
  }
  if (progress.copying) {
    if (!part.target->copied()) return false;
    progress.copying = false;
    take();
    return true;
  }
  if (progress.taken == progress.landed) return false;
  auto const begin = progress.taken * step.chunk;
  part.target->begin_copy_in(part.ring + progress.taken % step.slots * step.chunk, static_cast<std::size_t>(begin),
                             static_cast<std::size_t>(std::min(step.chunk, step.bytes - begin)));
  progress.copying = true;
  return true;
}

// -------------------------------------------------------------------------------------------------------------- faults

void NetworkRun::failed(LinkId link, std::string const& problem) {
  if (!dead_.insert(link).second) return;
  transport_.abort(link);
  std::set<std::size_t> under_way;
  std::vector<std::pair<std::size_t, int>> untold;
  for (auto& queue : queues_[index(link)]) {
    for (auto const* orders : {&queue.posted, &queue.waiting})
      for (auto const& order : *orders) {
        if (order.news == Notification::Over)
          untold.emplace_back(order.step, order.listener);
        else if (drives(order.step) && !progress_[order.step].over)
          under_way.insert(order.step);
      }
    queue.posted.clear();
    queue.waiting.clear();
  }
  for (auto const step : under_way) send_again(step, problem);
  for (auto const& [step, listener] : untold) {
    --told_;
    tell(step, listener);
  }
  if (under_way.empty()) faults_.push_back(problem);
}

void NetworkRun::send_again(std::size_t number, std::string const& problem) {
  auto const& step = plan_.steps[number];
  auto const track = living_track(number);
  if (!track || step.staging == Staging::Chunks)
    throw DeviceError(fmt::format("step '{}' ({})", step.transfer, step.text), ENETDOWN, problem);
  faults_.push_back(fmt::format("{}; step '{}' went over {} instead", problem, step.transfer,
                                transport_.text(layout_.steps[number].links[*track], 0)));
  send(number);
}

bool NetworkRun::finished() const {
  if (told_ > 0 || left_ > 0) return false;
  // What tells a ring's source that its last chunk is taken must have left.
  return std::all_of(queues_.begin(), queues_.end(), [](auto const& link) {
    return std::all_of(link.begin(), link.end(), [](Queue const& queue) { return queue.waiting.empty(); });
  });
}

void NetworkRun::check_patience(bool moved) {
  has_moved_ |= moved;
  if (moved || ++rounds_ % kRoundsALook != 0) return;
  auto const now = monotonic_now();
  if (now - looked_ < kLookEvery) return;
  looked_ = now;
  if (std::exchange(has_moved_, false)) moved_ = now;
  throw_if_interrupted();
  if (group_.failed_elsewhere()) throw DeviceError("the run", ECANCELED, "another process failed");
  for (auto const& [link, problem] : transport_.lost_links())
    failed(link, fmt::format("{}: {}", transport_.text(link, 0), problem));
  if (now - moved_ > stall_limit_)
    throw DeviceError(what_is_missing(), ETIMEDOUT, fmt::format("nothing moved for {:g} s", stall_limit_.value()));
}

std::string NetworkRun::what_is_missing() const {
  for (std::size_t i = 0; i < progress_.size(); ++i)
    if ((drives(i) || receives(i)) && !progress_[i].over) {
      auto const& links = layout_.steps[i].links;
      return fmt::format("step '{}' ({}){}", plan_.steps[i].transfer, plan_.steps[i].text,
                         links.empty() ? "" : " over " + transport_.text(links[progress_[i].track], 0));
    }
  return "the run";
}

}  // namespace lanewise::hw
