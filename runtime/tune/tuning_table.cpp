#include "runtime/tune/tuning_table.h"

#include <algorithm>
#include <cstdlib>

#include <link.h>
#include <nlohmann/json.hpp>

#include "runtime/files/model_file.h"
#include "runtime/json_tree.h"
#include "runtime/linear.h"
#include "runtime/machine/thread_pool.h"

namespace axle::runtime {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::uint64_t format = 1;
constexpr std::size_t most_bytes = std::size_t{4} << 20;
constexpr std::size_t most_machines = 64;
constexpr std::size_t most_name = 64;
constexpr std::uint64_t least_chunk = std::uint64_t{1} << 16;
constexpr std::uint64_t most_chunk = std::uint64_t{64} << 20;

struct ModeName {
  const char* name;
  axle_mode mode;
};
constexpr ModeName mode_names[] = {{"a16w8", AXLE_A16W8},
                                   {"da8w8", AXLE_DA8W8},
                                   {"a16w4", AXLE_A16W4},
                                   {"da8w4", AXLE_DA8W4},
                                   {"fp8", AXLE_A16F8}};

/// Reads fields of objects; the first one that is wrong is kept.
class Fields {
 public:
  explicit Fields(const std::string& where) : where_(where) {}

  std::uint64_t whole(const json& object, const char* key, std::uint64_t least,
                      std::uint64_t most) {
    const auto found = object.find(key);
    if (found != object.end() && found->is_number_unsigned()) {
      const std::uint64_t number = found->get<std::uint64_t>();
      if (number >= least && number <= most) return number;
    }
    wrong(key);
    return least;
  }

  double number(const json& object, const char* key, double least, double most) {
    const auto found = object.find(key);
    if (found != object.end() && found->is_number()) {
      const double value = found->get<double>();
      if (value >= least && value <= most) return value;
    }
    wrong(key);
    return least;
  }

  std::string text(const json& object, const char* key, std::size_t most) {
    const auto found = object.find(key);
    if (found != object.end() && found->is_string() &&
        found->get_ref<const std::string&>().size() <= most)
      return found->get<std::string>();
    wrong(key);
    return {};
  }

  void wrong(const char* key) {
    if (problem_.message.empty())
      problem_ = failure(AXLE_MALFORMED, "%s: \"%s\" is missing or not what a tuning table has",
                         where_.c_str(), key)
                     .error();
  }
  [[nodiscard]] bool right() const { return problem_.message.empty(); }
  [[nodiscard]] const Failure& problem() const { return problem_; }

 private:
  const std::string& where_;
  Failure problem_;
};

TunedLayer read_layer(const json& object, Fields& fields) {
  TunedLayer layer;
  const std::string mode = fields.text(object, "mode", most_name);
  const auto* const name = std::find_if(std::begin(mode_names), std::end(mode_names),
                                        [&](const ModeName& one) { return mode == one.name; });
  if (name == std::end(mode_names)) {
    fields.wrong("mode");
  } else {
    layer.shape.mode = name->mode;
  }
  layer.shape.group = static_cast<std::uint32_t>(fields.whole(object, "group", 0, 128));
  layer.shape.n = fields.whole(object, "n", 1, std::uint64_t{1} << 32U);
  layer.shape.k = fields.whole(object, "k", 1, most_depth);
  layer.rows = fields.whole(object, "rows", 1, row_buckets[bucket_count - 1]);
  if (row_buckets[bucket_of(layer.rows)] != layer.rows) fields.wrong("rows");
  layer.kernel = fields.text(object, "kernel", most_name);
  layer.threads = fields.whole(object, "threads", 0, ThreadPool::most_threads);
  layer.chunk = fields.whole(object, "chunk", 0, most_chunk);
  if (layer.chunk != 0 && layer.chunk < least_chunk) fields.wrong("chunk");
  layer.gain = fields.number(object, "gain", 1, 1e6);
  return layer;
}

TunedMachine read_machine(const json& object, Fields& fields) {
  TunedMachine tuned;
  tuned.machine = {.cpu = fields.text(object, "cpu", 256),
                   .features = fields.text(object, "features", 4096),
                   .l2 = fields.whole(object, "l2", 0, UINT64_MAX),
                   .l3 = fields.whole(object, "l3", 0, UINT64_MAX),
                   .threads = fields.whole(object, "threads", 1, ThreadPool::most_threads),
                   .kernels = fields.text(object, "kernels", 256)};
  const auto layers = object.find("layers");
  if (layers == object.end() || !layers->is_array() ||
      layers->size() > LayerChoices::most_shapes * bucket_count) {
    fields.wrong("layers");
    return tuned;
  }
  for (const json& layer : *layers) {
    if (!fields.right()) break;
    if (layer.is_object()) {
      tuned.layers.push_back(read_layer(layer, fields));
    } else {
      fields.wrong("layers");
    }
  }
  return tuned;
}

const char* name_of(axle_mode mode) {
  for (const ModeName& one : mode_names) {
    if (one.mode == mode) return one.name;
  }
  return "";
}

ordered_json layer_json(const TunedLayer& layer) {
  return {{"mode", name_of(layer.shape.mode)},
          {"group", layer.shape.group},
          {"n", layer.shape.n},
          {"k", layer.shape.k},
          {"rows", layer.rows},
          {"kernel", layer.kernel},
          {"threads", layer.threads},
          {"chunk", layer.chunk},
          {"gain", layer.gain}};
}

struct OwnObject {
  std::uintptr_t address;
  std::string path;
};

/// For dl_iterate_phdr, which unlike dladdr is in the C library of every version: the object that
/// the address is in. The program itself has no name there.
int find_own(dl_phdr_info* info, std::size_t, void* context) {
  OwnObject& own = *static_cast<OwnObject*>(context);
  for (std::size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const std::uintptr_t start = info->dlpi_addr + part.p_vaddr;
    if (part.p_type != PT_LOAD || own.address < start || own.address >= start + part.p_memsz)
      continue;
    own.path = info->dlpi_name[0] != '\0' ? info->dlpi_name : "/proc/self/exe";
    return 1;
  }
  return 0;
}

}  // namespace

Result<TuningTable> parse_tuning(std::string_view text, const std::string& where) {
  const Result<JsonTree> tree = JsonTree::parse(text, where);
  if (!tree) return std::unexpected(tree.error());
  const json& root = tree->root();
  Fields fields(where);
  if (!root.is_object())
    return failure(AXLE_MALFORMED, "%s: this is no JSON object", where.c_str());
  const std::uint64_t own = fields.whole(root, "axle_tuning", 1, UINT64_MAX);
  if (!fields.right()) return std::unexpected(fields.problem());
  if (own > format)
    return failure(AXLE_UNSUPPORTED,
                   "%s: a table of format %llu, of a later version; this one reads format 1",
                   where.c_str(), static_cast<unsigned long long>(own));
  const auto machines = root.find("machines");
  if (machines == root.end() || !machines->is_array() || machines->size() > most_machines)
    fields.wrong("machines");
  TuningTable table;
  for (std::size_t i = 0; fields.right() && i < machines->size(); ++i) {
    if (!(*machines)[i].is_object()) {
      fields.wrong("machines");
    } else {
      table.machines.push_back(read_machine((*machines)[i], fields));
    }
  }
  if (!fields.right()) return std::unexpected(fields.problem());
  return table;
}

std::string render_tuning(const TuningTable& table) {
  ordered_json machines = ordered_json::array();
  for (const TunedMachine& tuned : table.machines) {
    ordered_json layers = ordered_json::array();
    for (const TunedLayer& layer : tuned.layers) layers.push_back(layer_json(layer));
    machines.push_back({{"cpu", tuned.machine.cpu},
                        {"features", tuned.machine.features},
                        {"l2", tuned.machine.l2},
                        {"l3", tuned.machine.l3},
                        {"threads", tuned.machine.threads},
                        {"kernels", tuned.machine.kernels},
                        {"layers", layers}});
  }
  const ordered_json root = {{"axle_tuning", format}, {"machines", machines}};
  return root.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

void TuningTable::put(const MachineSignature& machine, std::span<const LayerShape> shapes,
                      const std::vector<TunedLayer>& tuned) {
  TunedMachine own{machine, {}};
  std::erase_if(machines, [&](TunedMachine& one) {
    if (!(one.machine == machine)) return false;
    own.layers = std::move(one.layers);
    return true;
  });
  std::erase_if(own.layers, [&](const TunedLayer& layer) {
    return std::find(shapes.begin(), shapes.end(), layer.shape) != shapes.end();
  });
  // The oldest go where there are too many.
  constexpr std::size_t most_layers = LayerChoices::most_shapes * bucket_count;
  own.layers.insert(own.layers.end(), tuned.begin(), tuned.end());
  if (own.layers.size() > most_layers)
    own.layers.erase(own.layers.begin(),
                     own.layers.end() - static_cast<std::ptrdiff_t>(most_layers));
  machines.push_back(std::move(own));
  if (machines.size() > most_machines) machines.erase(machines.begin());
}

Result<TuningTable> read_tuning(const std::string& path) {
  const Result<std::string> text = read_text(path, most_bytes);
  if (!text) return std::unexpected(text.error());
  return parse_tuning(*text, path);
}

Result<std::size_t> apply_tuning(const TuningTable& table, Engine& engine) {
  const MachineSignature own = machine_signature(engine);
  std::size_t taken = 0;
  bool known = false;
  for (const TunedMachine& tuned : table.machines) {
    if (!(tuned.machine == own)) continue;
    known = true;
    for (const TunedLayer& layer : tuned.layers) {
      const KernelRow* const kernel = find_kernel(layer.kernel);
      if (kernel != nullptr &&
          engine.choose(layer.shape, bucket_of(layer.rows),
                        {.kernel = kernel, .threads = layer.threads, .chunk_bytes = layer.chunk}))
        ++taken;
    }
  }
  if (!known)
    return failure(AXLE_UNSUPPORTED, "it was measured on other machines, or with other kernels");
  return taken;
}

std::string shipped_tuning_path() {
  OwnObject own{reinterpret_cast<std::uintptr_t>(&shipped_tuning_path), {}};
  dl_iterate_phdr(find_own, &own);
  char* const real = realpath(own.path.c_str(), nullptr);
  if (real == nullptr) return {};
  std::string library = real;
  std::free(real);
  return library.substr(0, library.rfind('/') + 1) + "axle_runtime_tuning.json";
}

}  // namespace axle::runtime
