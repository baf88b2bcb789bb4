#include "providers/plugins/session_use.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace axle::plugins {
namespace {

// Fields of proc(5), counted from the third, the one after the name.
constexpr std::size_t session_field = 6 - 3;
constexpr std::size_t threads_field = 20 - 3;
constexpr std::size_t resident_field = 24 - 3;

namespace fs = std::filesystem;

std::optional<ProcessStat> read_stat(const std::string& folder) {
  const int file = ::open((folder + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 1024> text;
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  if (size <= 0) return std::nullopt;
  return parse_process_stat({text.data(), static_cast<std::size_t>(size)});
}

/// Once its first thread has ended, a process appears to use no memory: the other threads report
/// it.
std::size_t resident_by_threads(const std::string& process) {
  std::error_code error;
  for (auto thread = fs::directory_iterator(process + "/task", error);
       !error && thread != fs::directory_iterator(); thread.increment(error)) {
    const auto stat = read_stat(thread->path().string());
    if (stat && stat->use.resident > 0) return stat->use.resident;
  }
  return 0;
}

std::optional<ProcessStat> read_process_stat(const std::string& process) {
  auto stat = read_stat(process);
  if (stat && stat->state == 'Z' && stat->use.tasks > 1)
    stat->use.resident = resident_by_threads(process);
  return stat;
}

void add(SessionUse& sum, const SessionUse& use) {
  sum.tasks += use.tasks;
  sum.resident += use.resident;
}

}  // namespace

std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  // The name may contain anything, including parentheses.
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(name_end + 1);
  const std::size_t state = text.find_first_not_of(' ');
  if (state == std::string_view::npos) return std::nullopt;
  ProcessStat stat{text[state]};
  std::array<std::size_t, resident_field + 1> fields{};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    // The first is a letter; negative ones are irrelevant.
    const auto parsed = std::from_chars(word.data(), word.data() + word.size(), fields[i]);
    const bool wanted = i == session_field || i == threads_field || i == resident_field;
    if (wanted && parsed.ec != std::errc()) return std::nullopt;
  }
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  stat.session = static_cast<pid_t>(fields[session_field]);
  stat.use = {fields[threads_field], fields[resident_field] * page};
  return stat;
}

SessionUse read_session_use(pid_t leader, bool alone, const std::string& proc) {
  SessionUse sum;
  if (alone) {
    if (const auto stat = read_process_stat(proc + '/' + std::to_string(leader))) sum = stat->use;
    return sum;
  }
  std::error_code error;
  auto entry = fs::directory_iterator(proc, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto stat = read_process_stat(entry->path().string());
    if (stat && stat->session == leader) add(sum, stat->use);
  }
  return sum;
}

std::chrono::nanoseconds pause_after_look(std::chrono::nanoseconds took) {
  using namespace std::chrono_literals;
  // An upper bound: a process that forks makes the check take longer.
  return std::clamp<std::chrono::nanoseconds>(10 * took, 25ms, 1s);
}

}  // namespace axle::plugins
