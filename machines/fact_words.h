#pragma once
// The words of inline facts: "sm=90,driver=570.26" taken apart, and what is said of those that mean
// nothing.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"
#include "foundation/report/error.h"

namespace axle::machines {

[[nodiscard]] std::vector<std::string_view> split(std::string_view text,
                                                  std::string_view separators);

[[nodiscard]] std::unexpected<Error> unknown(std::string_view what, std::string_view word,
                                             const std::vector<std::string>& known);
[[nodiscard]] std::unexpected<Error> bad_value(std::string_view ns, std::string_view key,
                                               std::string_view value, std::string_view example);
/// For a value that is well formed, but that no machine has; `nearest` as possible_facts.h gives
/// it.
[[nodiscard]] std::unexpected<Error> impossible(std::string_view ns, std::string_view key,
                                                std::string_view value, std::string_view nearest);

/// Numbers with dots between them.
[[nodiscard]] bool is_version(std::string_view text, std::size_t most_parts);

/// The facts of one part, key -> value. A word without "=" in a GPU namespace is a model: "gpu".
using StatedFacts = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] Result<StatedFacts> parse_pairs(std::string_view ns, std::string_view text,
                                              const std::vector<std::string>& keys);
[[nodiscard]] const std::string* find_fact(const StatedFacts& facts, std::string_view key);

/// The GPU that a part names by model, by architecture (`arch`, already checked and spelled), or
/// both.
[[nodiscard]] Result<void> add_gpu(detect::Machine& machine, detect::GpuVendor vendor,
                                   const StatedFacts& facts,
                                   const std::optional<std::string>& arch);
/// The driver of `vendor`, instead of what was known of it.
[[nodiscard]] detect::Driver& stated_driver(detect::Machine& machine, detect::GpuVendor vendor);
/// Either may be null: it is not stated.
[[nodiscard]] Result<void> check_driver(detect::GpuVendor vendor, const std::string* driver,
                                        std::string_view api_key, const std::string* api);

}  // namespace axle::machines
