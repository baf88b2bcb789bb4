#include "machines/fact_words.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/nearest.h"
#include "machines/gpu_models.h"
#include "machines/inline_facts.h"
#include "machines/possible_facts.h"

namespace axle::machines {

using detect::Driver;
using detect::GpuVendor;
using detect::Machine;
using detect::Presence;

namespace {

// A GPU of `vendor` by its model; null if the part has none.
Result<std::optional<detect::Gpu>> gpu_of_model(GpuVendor vendor, const StatedFacts& facts) {
  const std::string* name = find_fact(facts, "gpu");
  if (name == nullptr) return std::nullopt;
  const GpuModel* model = find_gpu_model(*name);
  if (model != nullptr && model->vendor == vendor) return make_gpu(*model);
  if (const auto fact = architecture_fact(*name)) {
    return fail(ErrorKind::not_found,
                fmt::format("\"{}\" is an architecture, not the name of a GPU", *name),
                fmt::format("write it like {}", *fact));
  }
  std::vector<std::string> known;
  for (const GpuModel& candidate : gpu_models()) {
    if (candidate.vendor == vendor) known.emplace_back(candidate.name);
  }
  return unknown(fmt::format("{} GPU", detect::render_vendor(vendor)), *name, known);
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::unexpected<Error> unknown(std::string_view what, std::string_view word,
                               const std::vector<std::string>& known) {
  std::string hint = text::did_you_mean(word, known);
  if (hint.empty()) hint = fmt::format("nearest known: {}", text::nearest_words(word, known));
  return fail(ErrorKind::not_found, fmt::format("unknown {} \"{}\"", what, word), std::move(hint));
}

std::unexpected<Error> bad_value(std::string_view ns, std::string_view key, std::string_view value,
                                 std::string_view example) {
  return fail(ErrorKind::not_found, fmt::format("{}:{}={} is not valid", ns, key, value),
              fmt::format("write it like {}:{}", ns, example));
}

std::unexpected<Error> impossible(std::string_view ns, std::string_view key, std::string_view value,
                                  std::string_view nearest) {
  return fail(ErrorKind::not_found, fmt::format("{}:{}={}: no machine has that", ns, key, value),
              fmt::format("nearest known: {}", nearest));
}

std::unexpected<Error> empty_fact(std::string_view ns, std::string_view text) {
  return fail(ErrorKind::not_found,
              fmt::format("{}:{}: nothing is stated between two commas", ns, text),
              "write one comma between two facts");
}

bool is_version(std::string_view text, std::size_t most_parts) {
  constexpr std::size_t longest_number = 6;
  const auto parts = split(text, ".");
  return parts.size() <= most_parts && std::ranges::all_of(parts, [](std::string_view part) {
           return !part.empty() && part.size() <= longest_number &&
                  std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
         });
}

Result<StatedFacts> parse_pairs(std::string_view ns, std::string_view text,
                                const std::vector<std::string>& keys) {
  StatedFacts facts;
  for (const std::string_view fact : split(text, ",")) {
    if (fact.empty()) return empty_fact(ns, text);
    const std::size_t equals = fact.find('=');
    const bool bare = equals == std::string_view::npos;
    const std::string key(bare ? "gpu" : fact.substr(0, equals));
    const std::string value(bare ? fact : fact.substr(equals + 1));
    if (std::ranges::find(keys, key) == keys.end()) {
      return unknown(fmt::format("fact of {}", ns), bare ? fact : key, keys);
    }
    if (value.empty()) return bad_value(ns, key, value, key + "=VALUE");
    if (!facts.emplace(key, value).second) {
      return fail(ErrorKind::not_found, fmt::format("{}:{} states {} twice", ns, text, key));
    }
  }
  return facts;
}

const std::string* find_fact(const StatedFacts& facts, std::string_view key) {
  const auto found = facts.find(key);
  return found == facts.end() ? nullptr : &found->second;
}

Result<void> add_gpu(Machine& machine, GpuVendor vendor, const StatedFacts& facts,
                     const std::optional<std::string>& arch) {
  auto gpu = gpu_of_model(vendor, facts);
  if (!gpu) return std::unexpected(gpu.error());
  if (!*gpu && !arch) return {};
  detect::Gpu added = gpu->value_or(detect::Gpu{});
  added.vendor = vendor;
  added.usable = Presence::present;
  if (arch) added.arch = *arch;
  machine.gpus.push_back(std::move(added));
  return {};
}

Driver& stated_driver(Machine& machine, GpuVendor vendor) {
  const auto found = std::ranges::find(machine.drivers, vendor, &Driver::vendor);
  Driver& driver = found == machine.drivers.end() ? machine.drivers.emplace_back() : *found;
  driver = {};
  driver.vendor = vendor;
  driver.api_source = "stated";
  driver.usable = Presence::present;
  return driver;
}

Result<void> check_driver(const Machine& machine, GpuVendor vendor, const std::string* driver,
                          std::string_view api_key, const std::string* api) {
  const std::string_view ns = detect::render_vendor(vendor);
  if (const auto nearest =
          driver == nullptr ? std::nullopt : nearest_driver(vendor, *driver, machine.os.system))
    return impossible(ns, "driver", *driver, *nearest);
  if (const auto nearest = api == nullptr ? std::nullopt : nearest_api(vendor, *api))
    return impossible(ns, api_key, *api, *nearest);
  return {};
}

}  // namespace axle::machines
