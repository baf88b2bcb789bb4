// Tables of choices in files: what was written is read, and nothing that a file says can make the
// runtime do what it cannot.
#include "runtime/tune/tuning_table.h"

#include <cstring>

#include <doctest/doctest.h>

#include "runtime/c_runtime.h"
#include "runtime/linear.h"
#include "tests/runtime/files/made_file.h"
#include "tests/runtime/layer_case.h"

namespace axle::runtime {
namespace {

struct OwnEngine {
  OwnEngine() { REQUIRE(engine.choose_kernels(nullptr, nullptr) == AXLE_OK); }
  Engine engine{2};
};

TunedLayer layer(std::size_t n, std::size_t rows, const char* kernel = "baseline") {
  return {.shape = {AXLE_A16W8, 0, n, 256},
          .rows = rows,
          .kernel = kernel,
          .threads = 1,
          .chunk = 0,
          .gain = 1.5};
}

TuningTable table_of(Engine& engine, const std::vector<TunedLayer>& layers) {
  TuningTable table;
  table.put(machine_signature(engine), {}, layers);
  return table;
}

/// The text of a good table with one part replaced.
std::string changed(const std::string& from, const std::string& to) {
  OwnEngine own;
  std::string text = render_tuning(table_of(own.engine, {layer(64, 4)}));
  const std::size_t at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a table is read as it was written") {
  OwnEngine own;
  std::vector<TunedLayer> layers{layer(64, 1), layer(64, 64), layer(192, 8)};
  layers[1].shape = {AXLE_DA8W4, 64, 11008, 4096};
  layers[1].chunk = 1 << 20;
  const TuningTable table = table_of(own.engine, layers);
  const auto again = parse_tuning(render_tuning(table), "table");
  REQUIRE(again.has_value());
  REQUIRE(again->machines.size() == 1);
  CHECK(again->machines[0].machine == table.machines[0].machine);
  REQUIRE(again->machines[0].layers.size() == 3);
  CHECK(again->machines[0].layers[1].shape == layers[1].shape);
  CHECK(again->machines[0].layers[1].chunk == 1U << 20U);
  CHECK(again->machines[0].layers[2].rows == 8);
  CHECK(again->machines[0].layers[2].gain == 1.5);
  CHECK(render_tuning(*again) == render_tuning(table));
}

TEST_CASE("the signature says what this machine is") {
  OwnEngine own;
  const MachineSignature signature = machine_signature(own.engine);
  CHECK(signature.threads == 2);
  CHECK(signature.kernels.size() == 16);
#if defined(__x86_64__)
  CHECK(signature.cpu.contains("/"));
#endif
}

TEST_CASE("a choice counts for its shape and rows, and gives the same bits") {
  OwnEngine own;
  const LayerCase data = make_case(40, 64, 256, Contents::ordinary, 3);
  Linear linear(own.engine);
  REQUIRE(linear.pack({.struct_size = sizeof(axle_linear_options),
                       .mode = AXLE_A16W8,
                       .weight_type = AXLE_INT8,
                       .n = data.n,
                       .k = data.k,
                       .weights = data.weights.data(),
                       .scales = data.scales.data(),
                       .bias = nullptr,
                       .group = 0,
                       .scaling = AXLE_SEARCHED,
                       .reserved = 0,
                       .factors = nullptr,
                       .device = nullptr},
                      nullptr) == AXLE_OK);
  std::vector<float> usual(40 * 64);
  std::vector<float> tuned(40 * 64);
  REQUIRE(linear.forward(AXLE_FLOAT32, data.x.data(), 40, usual.data(), nullptr) == AXLE_OK);
  TunedLayer choice = layer(64, 64);
  choice.chunk = 1 << 16;
  const auto taken = apply_tuning(table_of(own.engine, {choice}), own.engine);
  REQUIRE(taken.has_value());
  CHECK(*taken == 1);
  CHECK(own.engine.choice_for(linear.shape(), 33).kernel == find_kernel("baseline"));
  CHECK(own.engine.choice_for(linear.shape(), 1000).threads == 1);
  CHECK(own.engine.choice_for(linear.shape(), 32).threads == 0);
  REQUIRE(linear.forward(AXLE_FLOAT32, data.x.data(), 40, tuned.data(), nullptr) == AXLE_OK);
  CHECK(std::memcmp(usual.data(), tuned.data(), usual.size() * sizeof(float)) == 0);

  own.engine.heed_choices(false);
  CHECK(own.engine.choice_for(linear.shape(), 33).threads == 0);
  own.engine.heed_choices(true);
  own.engine.use_only(*own.engine.kernels().front());
  CHECK(own.engine.choice_for(linear.shape(), 33).kernel == own.engine.kernels().front());
  CHECK(own.engine.choice_for(linear.shape(), 33).threads == 0);
}

TEST_CASE("a set that the machine or the build has not is left to the default") {
  OwnEngine own;
  for (const char* kernel : {"none", "", "neon_i8mm", "amx_int9"}) {
    CAPTURE(kernel);
    const auto taken = apply_tuning(table_of(own.engine, {layer(64, 4, kernel)}), own.engine);
    REQUIRE(taken.has_value());
    CHECK(*taken == 0);
    CHECK(own.engine.choice_for({AXLE_A16W8, 0, 64, 256}, 4).kernel ==
          &own.engine.kernel_for(8, AXLE_A16W8));
  }
}

TEST_CASE("what was measured on another machine does not count") {
  OwnEngine own;
  TuningTable table = table_of(own.engine, {layer(64, 4)});
  const auto refused = [&](auto change) {
    TuningTable foreign = table;
    change(foreign.machines[0].machine);
    const auto taken = apply_tuning(foreign, own.engine);
    REQUIRE_FALSE(taken.has_value());
    CHECK(taken.error().status == AXLE_UNSUPPORTED);
  };
  refused([](MachineSignature& one) { one.cpu = "AuthenticAMD 26/68/0"; });
  refused([](MachineSignature& one) { one.features += " more"; });
  refused([](MachineSignature& one) { one.l2 += 1; });
  refused([](MachineSignature& one) { one.l3 += 1; });
  refused([](MachineSignature& one) { one.threads += 1; });
  refused([](MachineSignature& one) { one.kernels = "0123456789abcdef"; });
  CHECK(own.engine.chosen_shapes() == 0);
}

TEST_CASE("what is measured again replaces the shape's choices and no other") {
  OwnEngine own;
  TuningTable table = table_of(own.engine, {layer(64, 4), layer(128, 4)});
  const MachineSignature here = machine_signature(own.engine);
  MachineSignature other = here;
  other.threads = 1;
  table.put(other, {}, {layer(64, 1)});
  const LayerShape shape = layer(64, 1).shape;
  table.put(here, {&shape, 1}, {});
  REQUIRE(table.machines.size() == 2);
  CHECK(table.machines[0].machine == other);
  REQUIRE(table.machines[1].layers.size() == 1);
  CHECK(table.machines[1].layers[0].shape.n == 128);
}

TEST_CASE("tables do not grow without end") {
  OwnEngine own;
  TuningTable table;
  MachineSignature machine = machine_signature(own.engine);
  for (std::uint64_t threads = 1; threads <= 200; ++threads) {
    machine.threads = threads;
    table.put(machine, {}, {layer(64, 1)});
  }
  std::vector<TunedLayer> many;
  for (std::size_t n = 1; n <= 5000; ++n) many.push_back(layer(n, 1));
  table.put(machine, {}, many);
  CHECK(parse_tuning(render_tuning(table), "table").has_value());
  const auto taken = apply_tuning(table_of(own.engine, many), own.engine);
  REQUIRE(taken.has_value());
  CHECK(*taken == LayerChoices::most_shapes);
  CHECK(own.engine.choice_for({AXLE_A16W8, 0, 1, 256}, 1).kernel != nullptr);
}

TEST_CASE("tables that are damaged are refused with the file and the key") {
  struct Change {
    const char* from;
    const char* to;
    const char* says;
  };
  for (const Change& change : {
           Change{"\"a16w8\"", "\"a99w8\"", "mode"},
           Change{"\"rows\": 4", "\"rows\": 3", "rows"},
           Change{"\"rows\": 4", "\"rows\": 128", "rows"},
           Change{"\"rows\": 4", "\"rows\": -4", "rows"},
           Change{"\"n\": 64", "\"n\": 0", "\"n\""},
           Change{"\"n\": 64", "\"n\": 6.5", "\"n\""},
           Change{"\"k\": 256", "\"k\": 131072", "\"k\""},
           Change{"\"kernel\": \"baseline\"", "\"kernel\": 7", "kernel"},
           Change{"\"chunk\": 0", "\"chunk\": 1", "chunk"},
           Change{"\"chunk\": 0", "\"chunk\": 18446744073709551615", "chunk"},
           Change{"\"threads\": 1,\n     \"chunk\"", "\"threads\": 100000,\n     \"chunk\"",
                  "threads"},
           Change{"\"gain\": 1.5", "\"gain\": -1", "gain"},
           Change{"\"gain\": 1.5", "\"gain\": \"x\"", "gain"},
           Change{"\"layers\": [", "\"layers\": [3, ", "layers"},
           Change{"\"layers\"", "\"lairs\"", "layers"},
           Change{"\"machines\"", "\"engines\"", "machines"},
           Change{"\"axle_tuning\": 1", "\"axle_tuning\": 0", "axle_tuning"},
           Change{"\"axle_tuning\"", "\"tuning\"", "axle_tuning"},
           Change{"{", "[", "JSON"},
       }) {
    CAPTURE(change.to);
    const auto table = parse_tuning(changed(change.from, change.to), "kept.json");
    REQUIRE_FALSE(table.has_value());
    CHECK(table.error().status == AXLE_MALFORMED);
    CHECK(table.error().message.contains("kept.json"));
    CHECK(table.error().message.contains(change.says));
  }
  CHECK_FALSE(parse_tuning("", "kept.json").has_value());
  CHECK_FALSE(parse_tuning(std::string(100000, '['), "kept.json").has_value());
}

TEST_CASE("a table of a later format is refused as such") {
  const auto table = parse_tuning(changed("\"axle_tuning\": 1", "\"axle_tuning\": 2"), "kept.json");
  REQUIRE_FALSE(table.has_value());
  CHECK(table.error().status == AXLE_UNSUPPORTED);
  CHECK(table.error().message.contains("later"));
}

TEST_CASE("the C interface loads tables and says why not") {
  axle_runtime_options options{};
  options.struct_size = sizeof options;
  options.threads = 2;
  axle_runtime* runtime = nullptr;
  REQUIRE(axle_runtime_create(&options, &runtime, nullptr) == AXLE_OK);
  axle_error error{};
  CHECK(axle_runtime_load_tuning(nullptr, nullptr, &error) == AXLE_BAD_ARGUMENT);
  // Beside this program there is none.
  CHECK(axle_runtime_load_tuning(runtime, nullptr, &error) == AXLE_IO);
  CHECK(std::string(error.message).contains("axle_runtime_tuning.json"));
  const testing::Folder folder;
  const std::string good =
      folder.write("good", render_tuning(table_of(runtime->engine, {layer(64, 4)})));
  CHECK(axle_runtime_load_tuning(runtime, good.c_str(), &error) == AXLE_OK);
  CHECK(runtime->engine.chosen_shapes() == 1);
  const std::string bad = folder.write("bad", R"({"axle_tuning": 1})");
  CHECK(axle_runtime_load_tuning(runtime, bad.c_str(), &error) == AXLE_MALFORMED);
  const std::string foreign = folder.write("foreign", R"({"axle_tuning": 1, "machines": []})");
  CHECK(axle_runtime_load_tuning(runtime, foreign.c_str(), &error) == AXLE_UNSUPPORTED);
  CHECK(std::string(error.message).contains("other machines"));
  axle_runtime_destroy(runtime);
}

}  // namespace axle::runtime
