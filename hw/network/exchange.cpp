#include "hw/network/exchange.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "core/io/interrupt.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

enum class Kind : std::uint8_t { Fine, Missing, Device, Interrupted, Plan };

// The result or the error of one process.
struct Outcome {
  Kind kind = Kind::Fine;
  int code = 0;
  std::string text;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Outcome, kind, code, text)

// The text without the code that DeviceError appends: the error is made again elsewhere, which appends it again.
std::string without_code(DeviceError const& error) {
  std::string text = error.what();
  auto const code = fmt::format(" (error {})", error.code());
  if (text.ends_with(code)) text.resize(text.size() - code.size());
  return text;
}

// An error's text may be of a driver, in any encoding.
std::string text_of(Outcome const& outcome) {
  return nlohmann::json(outcome).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Outcome run_part(std::function<std::string()> const& part) {
  try {
    throw_if_interrupted();
    return {Kind::Fine, 0, part()};
  } catch (MissingError const& error) {
    return {Kind::Missing, 0, error.what()};
  } catch (DeviceError const& error) {
    return {Kind::Device, error.code(), without_code(error)};
  } catch (Interrupted const& error) {
    return {Kind::Interrupted, 0, error.what()};
  } catch (std::exception const& error) {  // whatever it is: the others must not wait for this process
    return {Kind::Plan, 0, error.what()};
  }
}

[[noreturn]] void raise(Outcome const& outcome, std::string const& where) {
  auto const text = where + ": " + outcome.text;
  switch (outcome.kind) {
    case Kind::Missing: throw MissingError(text);
    case Kind::Interrupted: throw Interrupted(outcome.text);
    case Kind::Device: throw DeviceError(where, outcome.code, outcome.text);
    default: throw PlanError(text);
  }
}

}  // namespace

std::vector<std::string> exchange(Group& group, std::function<std::string()> const& part) {
  auto const mine = run_part(part);
  if (mine.kind != Kind::Fine && mine.code != ECANCELED) group.announce_failure();
  std::vector<Outcome> all;
  for (auto const& text : group.all_gather(text_of(mine))) all.push_back(nlohmann::json::parse(text).get<Outcome>());
  // Reports the cause first: a process with ECANCELED only stopped because another failed.
  for (auto const cancelled : {false, true})
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      if (all[rank].kind != Kind::Fine && (all[rank].code == ECANCELED) == cancelled)
        raise(all[rank], group.hosts()[rank]);
  std::vector<std::string> texts;
  for (auto& outcome : all) texts.push_back(std::move(outcome.text));
  return texts;
}

}  // namespace lanewise::hw
