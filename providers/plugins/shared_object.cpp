#include "providers/plugins/shared_object.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <expected>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "providers/plugins/provider_sink.h"
#include "providers/sdk/axle_provider.h"

namespace axle::plugins {
namespace {

using nlohmann::json;

constexpr const char* entry_name = "axle_provider_entry";
/// Up to and including the last member of the first revision.
constexpr std::size_t smallest_table = offsetof(axle_provider, all) + sizeof(axle_provider::all);
constexpr std::size_t largest_table = 64 * 1024;

/// Why there is no answer: `fault` as in answer.h.
struct Trouble {
  const char* fault;
  std::string message;
};

std::unexpected<Trouble> raised(std::string message) {
  return std::unexpected(Trouble{"raised", std::move(message)});
}

std::unexpected<Trouble> malformed(std::string message) {
  return std::unexpected(Trouble{"malformed", std::move(message)});
}

std::expected<void*, Trouble> load(const std::string& path) {
  // RTLD_NOW: missing symbols are reported here, not in the middle of a query.
  void* object = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object != nullptr) return object;
  const char* why = ::dlerror();
  return raised(fmt::format("it cannot be loaded: {}", why == nullptr ? "no reason given" : why));
}

/// The part of the table that both this program and the provider know.
std::expected<axle_provider, Trouble> read_table(void* object) {
  using EntryPoint = const axle_provider*(std::uint32_t);
  auto* const entry = reinterpret_cast<EntryPoint*>(::dlsym(object, entry_name));
  if (entry == nullptr) return malformed(fmt::format("it exports no {}", entry_name));
  const axle_provider* table = entry(AXLE_PROVIDER_ABI_VERSION);
  if (table == nullptr) return malformed(fmt::format("{} returned NULL", entry_name));
  // These two come first in every version.
  const std::uint32_t size = table->struct_size;
  const std::uint32_t version = table->abi_version;
  if (version != AXLE_PROVIDER_ABI_VERSION) {
    return malformed(fmt::format(
        "it implements version {} of the provider interface, but this program implements {}",
        version, AXLE_PROVIDER_ABI_VERSION));
  }
  if (size < smallest_table || size > largest_table) {
    return malformed(fmt::format("its table claims {} bytes, but {} to {} are valid", size,
                                 smallest_table, largest_table));
  }
  axle_provider known{};
  std::memcpy(&known, table, std::min<std::size_t>(size, sizeof(known)));
  return known;
}

std::expected<std::string, Trouble> read_text(const char* text, std::string_view what) {
  const auto bounded = bounded_text(text, AXLE_PROVIDER_MAX_TEXT);
  if (!bounded) {
    return malformed(
        fmt::format("its {} is NULL or longer than {} bytes", what, AXLE_PROVIDER_MAX_TEXT));
  }
  return std::string(*bounded);
}

std::size_t count_threads() {
  std::error_code error;
  std::size_t threads = 0;
  for (auto entry = std::filesystem::directory_iterator("/proc/self/task", error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    ++threads;
  return threads;
}

json features_json(const providers::Features& features) {
  json rows = json::array();
  for (const providers::Feature& feature : features) {
    rows.push_back(
        {{"name", feature.name}, {"multi_value", feature.multi_value}, {"values", feature.values}});
  }
  return rows;
}

std::expected<json, Trouble> ask(const std::string& path, Query query) {
  const auto object = load(path);
  if (!object) return std::unexpected(object.error());
  const auto table = read_table(*object);
  if (!table) return std::unexpected(table.error());
  if (table->supported == nullptr || table->all == nullptr)
    return malformed("its table has no `supported` or no `all`");
  const auto ns = read_text(table->ns, "namespace");
  if (!ns) return std::unexpected(ns.error());
  const auto version = read_text(table->version, "version");
  if (!version) return std::unexpected(version.error());

  // Never destroyed: a thread that outlives the query may still call it.
  static ProviderSink sink;
  const std::size_t threads_before = count_threads();
  const std::int32_t status =
      (query == Query::supported ? table->supported : table->all)(sink.c_sink());
  sink.close();
  const std::size_t threads_after = count_threads();
  if (const std::string mistake = sink.mistake(); !mistake.empty()) return malformed(mistake);
  if (status != AXLE_PROVIDER_OK) {
    std::string message = fmt::format("it returned {}", status);
    for (const std::string& reason : sink.reasons()) message += ": " + reason;
    return raised(std::move(message));
  }
  return json{{"namespace", *ns},
              {"features", features_json(sink.features())},
              {"version", *version},
              {"abi", table->abi_version},
              {"reasons", sink.reasons()},
              {"threads", threads_after > threads_before ? threads_after - threads_before : 0}};
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

int answer_on(int answer, const std::string& path, Query query) {
  try {
    auto answered = ask(path, query);
    if (!answered) {
      const Trouble& trouble = answered.error();
      answered = json{{"error", {{"fault", trouble.fault}, {"message", trouble.message}}}};
    }
    const std::string text = answered->dump(-1, ' ', true, json::error_handler_t::replace);
    return write_all(answer, text) ? 0 : 1;
  } catch (const std::exception& error) {
    const json told = {{"error",
                        {{"fault", "raised"},
                         {"message", fmt::format("it threw an exception: {}", error.what())}}}};
    return write_all(answer, told.dump(-1, ' ', true, json::error_handler_t::replace)) ? 0 : 1;
  }
}

}  // namespace

std::optional<int> answer_if_asked(int argc, const char* const* argv) {
  if (argc != 4 || std::string_view(argv[1]) != shared_object_word) return std::nullopt;
  // A sanitizer's handlers would turn a crash into an exit.
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) ::signal(number, SIG_DFL);
  const Query query = argv[3] == render_query(Query::all) ? Query::all : Query::supported;
  constexpr int answer = 3;
  // Shows that this program runs: failures from here on are the object's.
  if (!write_all(answer, "\n")) return 1;
  return answer_on(answer, argv[2], query);
}

}  // namespace axle::plugins
