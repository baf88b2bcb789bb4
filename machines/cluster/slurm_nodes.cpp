// `scontrol show node`: KEY=VALUE words, of which some values have blanks (Slurm, scontrol(1)).
#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "machines/cluster/cluster_nodes.h"
#include "machines/fact_words.h"
#include "machines/gpu_models.h"
#include "machines/inline_facts.h"
#include "machines/profile_fields.h"

namespace axle::machines {
namespace {

using detect::Machine;

/// The words of one node.
struct NodeBlock {
  std::size_t line = 0;
  std::map<std::string, std::string, std::less<>> values;

  [[nodiscard]] std::string_view value(std::string_view key) const {
    const auto found = values.find(key);
    const bool none = found == values.end() || found->second == "(null)";
    return none ? std::string_view() : std::string_view(found->second);
  }
};

/// The key of "KEY=VALUE"; empty: it is a further word of a value.
std::string_view key_of(std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals == std::string_view::npos ? 0 : equals);
  const bool sound = !key.empty() && key.front() >= 'A' && key.front() <= 'Z' &&
                     std::ranges::all_of(key, [](char c) {
                       return text::is_ascii_alnum(c) || c == '_' || c == '/';
                     });
  return sound ? key : std::string_view();
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (line = text::trim_ascii(line); !line.empty(); line = text::trim_ascii(line)) {
    const auto end = std::ranges::find_if(line, text::is_ascii_space);
    words.emplace_back(line.begin(), end);
    line.remove_prefix(words.back().size());
  }
  return words;
}

Result<std::vector<NodeBlock>> split_blocks(std::string_view text, std::string_view where) {
  std::vector<NodeBlock> blocks;
  std::string* last = nullptr;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    for (const std::string_view word : words_of(text.substr(0, end))) {
      const std::string_view key = key_of(word);
      if (key == "NodeName") {
        blocks.emplace_back().line = line;
      } else if (blocks.empty()) {
        return fail(ErrorKind::malformed, fmt::format("{}:{}: expected NodeName=", where, line),
                    "`scontrol show node` writes such a file");
      }
      if (!key.empty()) {
        last = &blocks.back().values[std::string(key)];
        *last = word.substr(key.size() + 1);
      } else if (last != nullptr) {
        *last += fmt::format(" {}", word);
      }
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return blocks;
}

class NodeReader {
 public:
  NodeReader(const NodeBlock& block, std::string_view where) : block_(block), where_(where) {}

  Result<Machine> read() {
    read_platform();
    if (auto done = read_features(); !done) return std::unexpected(std::move(done).error());
    if (auto done = read_gpus(); !done) return std::unexpected(std::move(done).error());
    return std::move(machine_);
  }

 private:
  [[nodiscard]] std::unexpected<Error> refuse(std::string_view key, std::string_view why,
                                              std::string hint = {}) const {
    return fail(ErrorKind::malformed,
                fmt::format("{}:{}: node {}: {}: {}", where_, block_.line, block_.value("NodeName"),
                            key, why),
                std::move(hint));
  }

  void read_platform() {
    const std::string_view arch = block_.value("Arch");
    machine_.cpu.machine = arch;
    const auto known = std::ranges::find(arch_words.values, arch, detect::render_arch);
    if (known != arch_words.values.end()) machine_.cpu.arch = *known;
    const auto os = words_of(block_.value("OS"));
    if (os.size() > 1 && os.front() == "Linux") {
      machine_.os.system = "Linux";
      machine_.os.kernel = os[1];
    }
  }

  [[nodiscard]] Result<void> state(std::string_view feature, const std::string& fact) {
    if (auto added = add_facts(machine_, fact); !added)
      return refuse("ActiveFeatures", fmt::format("{}: {}", feature, added.error().message),
                    added.error().hint);
    return {};
  }

  /// Those that are documented; sites have others, which say nothing here.
  Result<void> read_features() {
    std::string_view list = block_.value("ActiveFeatures");
    if (list.empty()) list = block_.value("AvailableFeatures");
    if (list.empty()) return {};
    for (const std::string_view feature : split(list, ",")) {
      Result<void> done;
      if (feature.starts_with("x86-64-v") && machine_.cpu.arch == detect::Arch::x86_64) {
        done = state(feature, fmt::format("x86_64:{}", feature.substr(7)));
      } else if (feature.starts_with("driver-")) {
        driver_ = fmt::format("nvidia:driver={}", feature.substr(7));
      } else if (feature.starts_with("cuda-")) {
        if (driver_.empty()) driver_ = fmt::format("nvidia:cuda={}", feature.substr(5));
      } else if (auto fact = architecture_fact(feature)) {
        architectures_.push_back(std::move(*fact));
      } else if (const GpuModel* model = find_gpu_model(text::ascii_lower(feature))) {
        models_.push_back(model);
      }
      if (!done) return done;
    }
    if (!driver_.empty()) return state("driver", driver_);
    return {};
  }

  /// "gpu:h100:4(S:0-1),gpu:a100:2", "gpu:4"
  Result<void> read_gpus() {
    std::string list(block_.value("Gres"));
    // What follows in parentheses has commas, too.
    for (std::size_t open = list.find('('); open != std::string::npos; open = list.find('('))
      list.erase(open, std::min(list.find(')', open), list.size() - 1) - open + 1);
    if (list.empty()) return {};
    for (const std::string_view gres : split(list, ",")) {
      const auto parts = split(gres, ":");
      if (parts.front() != "gpu") continue;
      if (auto added = add_gres(gres, parts); !added) return added;
    }
    return {};
  }

  Result<void> add_gres(std::string_view gres, const std::vector<std::string_view>& parts) {
    constexpr unsigned most_gpus_of_node = 1024;
    unsigned count = 0;
    const std::string_view last = parts.back();
    const auto [end, error] = std::from_chars(last.data(), last.data() + last.size(), count);
    const bool counted = error == std::errc() && end == last.data() + last.size();
    if (parts.size() < 2 || parts.size() > 3 || (parts.size() == 3 && !counted) ||
        count > most_gpus_of_node)
      return refuse("Gres", fmt::format("\"{}\" is not gpu:TYPE:NUMBER", gres));
    const std::string_view type = parts.size() == 3 || !counted ? parts[1] : std::string_view();
    auto gpu = gpu_of(type);
    if (!gpu) return std::unexpected(std::move(gpu).error());
    machine_.gpus.insert(machine_.gpus.end(), counted ? count : 1, *gpu);
    return {};
  }

  /// By its type, else by the one feature that says what it is.
  Result<detect::Gpu> gpu_of(std::string_view type) {
    const GpuModel* model = type.empty() ? nullptr : find_gpu_model_in(type);
    if (model == nullptr && models_.size() == 1) model = models_.front();
    if (model != nullptr) return make_gpu(*model);
    std::string fact;
    if (const auto of_type = architecture_fact(type)) {
      fact = *of_type;
    } else if (architectures_.size() == 1) {
      fact = architectures_.front();
    }
    Machine stated;
    if (!fact.empty() && add_facts(stated, fact) && stated.gpus.size() == 1)
      return stated.gpus.front();
    return refuse("Gres",
                  type.empty() ? std::string("it has GPUs, and nothing says which")
                               : fmt::format("nothing is known of GPUs of the type {}", type),
                  "a type such as gpu:h100:4, or one feature such as sm_90 or gfx942, says so");
  }

  const NodeBlock& block_;
  std::string_view where_;
  Machine machine_;
  std::string driver_;
  std::vector<std::string> architectures_;
  std::vector<const GpuModel*> models_;
};

}  // namespace

Result<std::vector<NodeKind>> parse_slurm_nodes(std::string_view text, std::string_view where) {
  if (text.size() > largest_node_list)
    return fail(ErrorKind::malformed, fmt::format("{}: too large for a list of nodes", where));
  const auto blocks = split_blocks(text, where);
  if (!blocks) return std::unexpected(blocks.error());
  std::set<std::string_view> names;
  std::vector<NodeKind> kinds;
  for (const NodeBlock& block : *blocks) {
    const std::string_view name = block.value("NodeName");
    if (name.empty() || !names.insert(name).second)
      return fail(ErrorKind::malformed,
                  name.empty()
                      ? fmt::format("{}:{}: a node without a name", where, block.line)
                      : fmt::format("{}:{}: two nodes are called {}", where, block.line, name));
    auto machine = NodeReader(block, where).read();
    if (!machine) return std::unexpected(std::move(machine).error());
    add_node(kinds, std::string(name), std::move(*machine));
  }
  if (kinds.empty()) return fail(ErrorKind::not_found, fmt::format("{}: it has no node", where));
  return kinds;
}

}  // namespace axle::machines
