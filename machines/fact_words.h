#pragma once
// Parses inline facts: "sm=90,driver=570.26", with the errors for invalid ones.

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
/// For a value that is well formed, but impossible; `nearest` from possible_facts.h.
[[nodiscard]] std::unexpected<Error> impossible(std::string_view ns, std::string_view key,
                                                std::string_view value, std::string_view nearest);

/// For "nvidia:sm=90,,driver=570.26".
[[nodiscard]] std::unexpected<Error> empty_fact(std::string_view ns, std::string_view text);

/// Numbers separated by dots.
[[nodiscard]] bool is_version(std::string_view text, std::size_t most_parts);

/// The facts of one part, key -> value. A word without "=" in a GPU namespace is a model: "gpu".
using StatedFacts = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] Result<StatedFacts> parse_pairs(std::string_view ns, std::string_view text,
                                              const std::vector<std::string>& keys);
[[nodiscard]] const std::string* find_fact(const StatedFacts& facts, std::string_view key);

/// The GPU that a part specifies by model, by architecture (`arch`, already validated and
/// normalised), or both.
[[nodiscard]] Result<void> add_gpu(detect::Machine& machine, detect::GpuVendor vendor,
                                   const StatedFacts& facts,
                                   const std::optional<std::string>& arch);
/// The driver of `vendor`, replacing the previous one.
[[nodiscard]] detect::Driver& stated_driver(detect::Machine& machine, detect::GpuVendor vendor);
/// Either may be null: it is not stated.
[[nodiscard]] Result<void> check_driver(const detect::Machine& machine, detect::GpuVendor vendor,
                                        const std::string* driver, std::string_view api_key,
                                        const std::string* api);

}  // namespace axle::machines
