#include "detect/record/recording.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace axle::detect {
namespace {

using QuestionKind = Question::Kind;

template <typename Map>
auto find_value(const Map& map, const typename Map::key_type& key)
    -> std::optional<typename Map::mapped_type> {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  return found->second;
}

/// The first component below `folder` (which ends with '/') of every path in it.
template <typename Map>
void add_children(const Map& map, const std::string& folder, std::vector<std::string>& names) {
  for (auto at = map.lower_bound(folder); at != map.end(); ++at) {
    const std::string& path = at->first;
    if (!path.starts_with(folder)) break;
    std::string name = path.substr(folder.size(), path.find('/', folder.size()) - folder.size());
    if (!name.empty()) names.push_back(std::move(name));
  }
}

template <typename Map>
bool has_child(const Map& map, const std::string& folder) {
  const auto at = map.lower_bound(folder);
  return at != map.end() && at->first.starts_with(folder);
}

std::string as_folder(const std::string& path) { return path.ends_with('/') ? path : path + '/'; }

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 24> text;
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

std::optional<std::string> hexadecimal(const std::optional<std::uint64_t>& value) {
  if (!value) return std::nullopt;
  return hexadecimal(*value);
}

std::string render_leaf(const CpuidLeaf& leaf) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "eax %08x ebx %08x ecx %08x edx %08x", leaf.eax, leaf.ebx,
                leaf.ecx, leaf.edx);
  return text.data();
}

std::string name_auxiliary(unsigned long type) {
  switch (type) {
    case 16:
      return "AT_HWCAP";
    case 26:
      return "AT_HWCAP2";
    case 29:
      return "AT_HWCAP3";
    default:
      return "auxiliary vector " + std::to_string(type);
  }
}

std::optional<std::string> bytes(const std::optional<unsigned>& length) {
  if (!length) return std::nullopt;
  return std::to_string(*length) + " bytes";
}

std::optional<std::string> unless_empty(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}

std::string render_end(const DriverAnswer& answer) {
  switch (answer.end) {
    case DriverAnswer::End::finished:
      return "finished";
    case DriverAnswer::End::crashed:
      return "crashed (signal " + std::to_string(answer.signal) + ")";
    case DriverAnswer::End::timed_out:
      return "timed out";
    case DriverAnswer::End::not_started:
      return "not started";
    case DriverAnswer::End::not_recorded:
      return "not recorded";
  }
  return {};
}

std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

std::string_view name_access(Access access) {
  switch (access) {
    case Access::exists:
      return "exists, but may not be opened";
    case Access::read:
      return "readable";
    case Access::read_write:
      return "readable and writable";
  }
  return {};
}

}  // namespace

std::optional<CpuidLeaf> ReplayHost::cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  if (recording_.architecture != Arch::x86_64) return std::nullopt;
  const CpuidAnswers& leaves = current_ != nullptr ? *current_ : recording_.leaves;
  return find_value(leaves, {leaf, subleaf}).value_or(CpuidLeaf{});
}

std::optional<std::uint64_t> ReplayHost::xcomp(XcompQuery query) {
  return query == XcompQuery::supported ? recording_.xcomp_supported : recording_.xcomp_permitted;
}

bool ReplayHost::on_cpu(unsigned cpu, const std::function<void()>& work) {
  const auto found = recording_.leaves_of_cpu.find(cpu);
  if (found == recording_.leaves_of_cpu.end()) return false;
  current_ = &found->second;
  work();
  current_ = nullptr;
  return true;
}

std::optional<std::uint64_t> ReplayHost::auxiliary(unsigned long type) {
  return find_value(recording_.auxiliary_values, type);
}

std::optional<std::uint64_t> ReplayHost::riscv_hwprobe(std::int64_t key) {
  return find_value(recording_.hwprobe, key);
}

std::optional<std::string> ReplayHost::sysctl(const std::string& name) {
  return find_value(recording_.sysctls, name);
}

ProgramAnswer ReplayHost::run_program(const std::string& command,
                                      std::chrono::milliseconds /*time_limit*/) {
  return {find_value(recording_.programs, command).value_or(""),
          !recording_.stopped.contains(command)};
}

std::optional<std::string> ReplayHost::read_file(const std::string& path, std::size_t limit) {
  auto content = find_value(recording_.files, path);
  if (content && content->size() > limit) content->resize(limit);
  return content;
}

std::vector<std::string> ReplayHost::list_folder(const std::string& path) {
  const std::string folder = as_folder(path);
  std::vector<std::string> names;
  const auto listed = recording_.folders.find(folder.substr(0, folder.size() - 1));
  if (listed != recording_.folders.end()) names = listed->second;
  add_children(recording_.files, folder, names);
  add_children(recording_.links, folder, names);
  add_children(recording_.nodes, folder, names);
  add_children(recording_.folders, folder, names);
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

std::optional<std::string> ReplayHost::read_link(const std::string& path) {
  return find_value(recording_.links, path);
}

std::optional<std::string> ReplayHost::file_stamp(const std::string& path) {
  return find_value(recording_.stamps, path);
}

bool ReplayHost::accessible(const std::string& path, Access access) {
  if (const auto node = recording_.nodes.find(path); node != recording_.nodes.end()) {
    return access <= node->second;
  }
  // A file that was read is readable; whether it is writable was not queried.
  if (access == Access::read_write) return false;
  if (recording_.files.contains(path) || recording_.links.contains(path) ||
      recording_.folders.contains(path)) {
    return true;
  }
  const std::string folder = as_folder(path);
  return has_child(recording_.files, folder) || has_child(recording_.links, folder) ||
         has_child(recording_.nodes, folder) || has_child(recording_.folders, folder);
}

std::optional<std::string> ReplayHost::environment(const std::string& variable) {
  return find_value(recording_.variables, variable);
}

std::vector<DriverAnswer> ReplayHost::ask_drivers(std::span<const GpuVendor> vendors,
                                                  std::chrono::milliseconds) {
  std::vector<DriverAnswer> result;
  for (const GpuVendor vendor : vendors) {
    result.push_back(find_value(recording_.answers, vendor)
                         .value_or(DriverAnswer{DriverAnswer::End::not_recorded, 0, {}}));
  }
  return result;
}

void RecordingHost::note(QuestionKind kind, std::string subject,
                         std::optional<std::string> answer) {
  questions_.push_back({topic_, kind, std::move(subject), std::move(answer)});
}

void RecordingHost::turn_to(std::string_view topic) {
  topic_ = topic;
  ForwardingHost::turn_to(topic);
}

Arch RecordingHost::arch() {
  recording_.architecture = ForwardingHost::arch();
  return recording_.architecture;
}

std::optional<CpuidLeaf> RecordingHost::cpuid(std::uint32_t leaf, std::uint32_t subleaf) {
  const auto answer = ForwardingHost::cpuid(leaf, subleaf);
  std::array<char, 32> subject;
  std::snprintf(subject.data(), subject.size(), "%x:%x", leaf, subleaf);
  note(QuestionKind::cpuid, subject.data(),
       answer ? std::optional(render_leaf(*answer)) : std::nullopt);
  if (!answer) return answer;
  CpuidAnswers& leaves = current_cpu_ ? recording_.leaves_of_cpu[*current_cpu_] : recording_.leaves;
  leaves[{leaf, subleaf}] = *answer;
  return answer;
}

std::uint64_t RecordingHost::xcr0() {
  recording_.xcr0_value = ForwardingHost::xcr0();
  note(QuestionKind::processor, "XCR0", hexadecimal(recording_.xcr0_value));
  return recording_.xcr0_value;
}

std::optional<std::uint64_t> RecordingHost::xcomp(XcompQuery query) {
  const auto answer = ForwardingHost::xcomp(query);
  const bool supported = query == XcompQuery::supported;
  (supported ? recording_.xcomp_supported : recording_.xcomp_permitted) = answer;
  note(QuestionKind::processor,
       supported ? "states that the kernel supports" : "states that are permitted",
       hexadecimal(answer));
  return answer;
}

bool RecordingHost::on_cpu(unsigned cpu, const std::function<void()>& work) {
  return ForwardingHost::on_cpu(cpu, [&] {
    const auto before = current_cpu_;
    current_cpu_ = cpu;
    recording_.leaves_of_cpu[cpu];
    work();
    current_cpu_ = before;
  });
}

std::optional<std::uint64_t> RecordingHost::auxiliary(unsigned long type) {
  const auto answer = ForwardingHost::auxiliary(type);
  if (answer) recording_.auxiliary_values[type] = *answer;
  note(QuestionKind::auxiliary, name_auxiliary(type), hexadecimal(answer));
  return answer;
}

std::optional<unsigned> RecordingHost::sve_vector_bytes() {
  recording_.sve_bytes = ForwardingHost::sve_vector_bytes();
  note(QuestionKind::processor, "SVE vector length", bytes(recording_.sve_bytes));
  return recording_.sve_bytes;
}

std::optional<unsigned> RecordingHost::sme_vector_bytes() {
  recording_.sme_bytes = ForwardingHost::sme_vector_bytes();
  note(QuestionKind::processor, "SME vector length", bytes(recording_.sme_bytes));
  return recording_.sme_bytes;
}

std::optional<std::uint64_t> RecordingHost::riscv_hwprobe(std::int64_t key) {
  const auto answer = ForwardingHost::riscv_hwprobe(key);
  if (answer) recording_.hwprobe[key] = *answer;
  note(QuestionKind::processor, "riscv_hwprobe " + std::to_string(key), hexadecimal(answer));
  return answer;
}

std::optional<std::uint64_t> RecordingHost::riscv_vtype() {
  recording_.vtype = ForwardingHost::riscv_vtype();
  note(QuestionKind::processor, "vtype after vsetvli", hexadecimal(recording_.vtype));
  return recording_.vtype;
}

std::optional<std::string> RecordingHost::sysctl(const std::string& name) {
  auto answer = ForwardingHost::sysctl(name);
  if (answer) recording_.sysctls[name] = *answer;
  note(QuestionKind::system, "sysctl " + name, answer);
  return answer;
}

SystemName RecordingHost::system_name() {
  recording_.name = ForwardingHost::system_name();
  const SystemName& name = recording_.name;
  note(QuestionKind::system, "uname", name.system + ' ' + name.release + ' ' + name.machine);
  return name;
}

unsigned RecordingHost::online_cpus() {
  recording_.cpus = ForwardingHost::online_cpus();
  note(QuestionKind::system, "online CPUs", std::to_string(recording_.cpus));
  return recording_.cpus;
}

std::string RecordingHost::glibc_version() {
  recording_.glibc = ForwardingHost::glibc_version();
  note(QuestionKind::system, "glibc", unless_empty(recording_.glibc));
  return recording_.glibc;
}

ProgramAnswer RecordingHost::run_program(const std::string& command,
                                         std::chrono::milliseconds time_limit) {
  ProgramAnswer answer = ForwardingHost::run_program(command, time_limit);
  if (!answer.text.empty() || !answer.finished) recording_.programs[command] = answer.text;
  if (!answer.finished) recording_.stopped.insert(command);
  note(QuestionKind::program, command, unless_empty(answer.text));
  return answer;
}

std::optional<std::string> RecordingHost::read_file(const std::string& path, std::size_t limit) {
  auto answer = ForwardingHost::read_file(path, limit);
  note(QuestionKind::file, path, answer);
  if (!answer) return answer;
  std::string& kept = recording_.files[path];
  if (answer->size() > kept.size()) kept = *answer;
  return answer;
}

std::vector<std::string> RecordingHost::list_folder(const std::string& path) {
  std::vector<std::string> names = ForwardingHost::list_folder(path);
  note(QuestionKind::folder, path, unless_empty(join(names)));
  if (names.empty()) return names;
  const std::string folder = as_folder(path);
  recording_.folders[folder.substr(0, folder.size() - 1)] = names;
  return names;
}

std::optional<std::string> RecordingHost::read_link(const std::string& path) {
  const auto answer = ForwardingHost::read_link(path);
  if (answer) recording_.links[path] = *answer;
  note(QuestionKind::link, path, answer);
  return answer;
}

std::optional<std::string> RecordingHost::file_stamp(const std::string& path) {
  const auto answer = ForwardingHost::file_stamp(path);
  if (answer) recording_.stamps[path] = *answer;
  note(QuestionKind::stamp, path, answer);
  return answer;
}

bool RecordingHost::accessible(const std::string& path, Access access) {
  const bool answer = ForwardingHost::accessible(path, access);
  std::optional<Access> most;
  for (const Access each : {Access::exists, Access::read, Access::read_write}) {
    if (each == access ? answer : ForwardingHost::accessible(path, each)) most = each;
    if (most != each) break;
  }
  if (most) recording_.nodes[path] = *most;
  note(QuestionKind::access, path,
       most ? std::optional(std::string(name_access(*most))) : std::nullopt);
  return answer;
}

std::optional<std::string> RecordingHost::environment(const std::string& variable) {
  const auto answer = ForwardingHost::environment(variable);
  if (answer) recording_.variables[variable] = *answer;
  note(QuestionKind::variable, variable, answer);
  return answer;
}

std::vector<DriverAnswer> RecordingHost::ask_drivers(std::span<const GpuVendor> vendors,
                                                     std::chrono::milliseconds time_limit) {
  const auto answers = ForwardingHost::ask_drivers(vendors, time_limit);
  for (std::size_t i = 0; i < vendors.size() && i < answers.size(); ++i) {
    const bool recorded = answers[i].end != DriverAnswer::End::not_recorded;
    if (recorded) recording_.answers[vendors[i]] = answers[i];
    questions_.push_back({std::string(render_vendor(vendors[i])), QuestionKind::library,
                          std::string(render_vendor(vendors[i])),
                          answers[i].lines + "end\t" + render_end(answers[i])});
  }
  return answers;
}

}  // namespace axle::detect
