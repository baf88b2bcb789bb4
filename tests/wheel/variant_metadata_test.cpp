// Every version of variant metadata, read and written.
#include "wheel/variant/variant_metadata.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

using namespace axle::wheel;

VariantMetadata read(const std::string& json) {
  axle::CollectedReport report;
  auto metadata = parse_variant_metadata(json, "doc.json", report);
  REQUIRE_MESSAGE(metadata.has_value(), metadata.error().message);
  CHECK(report.remarks.empty());
  return std::move(*metadata);
}

const std::string pep850_url = "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json";
const std::string variantlib_url = "https://variants-schema.wheelnext.dev/v0.2.0.json";

/// 0.2.0 with every kind of provider.
std::string full_document(const std::string& url) {
  return R"({
  "$schema": ")" +
         url + R"(",
  "default-priorities": {"namespace": ["nvidia", "x86_64", "blas", "own"]},
  "providers": {
    "x86_64": {"requires": ["x86-64-variant-provider>=0.2,<1"]},
    "nvidia": {"requires": ["nvidia-variant-provider"], "optional": true,
               "plugin-api": "nvidia_variant_provider.plugin:NvidiaVariantPlugin"},
    "blas": {"static-properties": {"threads": ["openmp", "none"], "provider": ["mkl", "openblas"]},
             "feature-order": ["provider", "threads"]},
    "own": {"builtin": "own_provider"}
  },
  "variants": {
    "null": {},
    "fast": {"x86_64": {"level": ["v3", "v4"]}, "blas": {"provider": ["mkl"]}},
    "gpu_12.8": {"nvidia": {"sm_arch": ["90_real", "80_real"]}}
  }
})";
}

}  // namespace

TEST_CASE("version 0.2.0 is read with every kind of provider") {
  for (const std::string& url : {pep850_url, variantlib_url}) {
    const VariantMetadata metadata = read(full_document(url));
    CHECK(metadata.schema_version == "0.2.0");
    CHECK(metadata.namespaces == std::vector<std::string>{"nvidia", "x86_64", "blas", "own"});
    REQUIRE(metadata.providers.size() == 4);
    const ProviderInfo& nvidia = metadata.providers.at("nvidia");
    CHECK(nvidia.optional);
    CHECK(nvidia.install_time);
    CHECK(nvidia.requires_ == std::vector<std::string>{"nvidia-variant-provider"});
    CHECK(nvidia.plugin_api == "nvidia_variant_provider.plugin:NvidiaVariantPlugin");
    const ProviderInfo& blas = metadata.providers.at("blas");
    REQUIRE(blas.static_properties.has_value());
    CHECK(*blas.static_properties == std::vector<FeatureValues>{{"provider", {"mkl", "openblas"}},
                                                                {"threads", {"openmp", "none"}}});
    CHECK(metadata.providers.at("own").builtin == "own_provider");
    CHECK(metadata.variants.at("null").empty());
    CHECK(metadata.variants.at("fast") == VariantProperties{{"blas", "provider", "mkl"},
                                                            {"x86_64", "level", "v3"},
                                                            {"x86_64", "level", "v4"}});
    CHECK(is_null_variant(metadata, "null"));
    CHECK_FALSE(is_null_variant(metadata, "fast"));
    CHECK_FALSE(is_null_variant(metadata, "absent"));
  }
}

TEST_CASE("version 0.1.1 may lack providers") {
  const VariantMetadata metadata = read(R"({
    "$schema": "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json",
    "default-priorities": {"namespace": ["gpu", "cpu"]},
    "variants": {"fast": {"gpu": {"cuda": ["12.0", "13.0"]}}, "null": {}}
  })");
  CHECK(metadata.schema_version == "0.1.1");
  CHECK(metadata.providers.empty());
  CHECK(metadata.variants.at("fast").size() == 2);
}

TEST_CASE("version 0.1.1 with providers is read as 0.2.0 is") {
  const VariantMetadata metadata = read(R"({
    "$schema": "https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json",
    "default-priorities": {"namespace": ["gpu"]},
    "providers": {"gpu": {"requires": ["gpu-provider"]}},
    "variants": {}
  })");
  CHECK(metadata.providers.at("gpu").requires_ == std::vector<std::string>{"gpu-provider"});
}

TEST_CASE("version 0.0.3 has markers, priority tables and static lists of its own") {
  const VariantMetadata metadata = read(R"({
    "$schema": "https://variants-schema.wheelnext.dev/v0.0.3.json",
    "default-priorities": {
      "feature": {"blas_lapack": ["provider"], "x86_64": []},
      "namespace": ["x86_64", "blas_lapack"],
      "property": {"blas_lapack": {"provider": ["accelerate", "openblas"]}}
    },
    "providers": {
      "blas_lapack": {"install-time": false, "requires": ["blas-lapack-variant-provider"]},
      "x86_64": {"enable-if": "platform_machine == 'x86_64' or platform_machine == 'AMD64'",
                 "install-time": true, "plugin-api": "provider_variant_x86_64.plugin:X8664Plugin",
                 "requires": ["provider-variant-x86-64 >=0.0.1; python_version >= '3.9'"]}
    },
    "static-properties": {"blas_lapack": {"arch": ["any"], "provider": ["accelerate", "mkl"]}},
    "variants": {
      "00000000": {},
      "x8664v4_mkl": {"blas_lapack": {"provider": ["mkl"]}, "x86_64": {"level": ["v4"]}}
    }
  })");
  CHECK(metadata.schema_version == "0.0.3");
  const ProviderInfo& blas = metadata.providers.at("blas_lapack");
  CHECK_FALSE(blas.install_time);
  REQUIRE(blas.static_properties.has_value());
  CHECK(*blas.static_properties ==
        std::vector<FeatureValues>{{"provider", {"accelerate", "mkl"}}, {"arch", {"any"}}});
  const ProviderInfo& x86 = metadata.providers.at("x86_64");
  CHECK(x86.install_time);
  CHECK(x86.enable_if == "platform_machine == 'x86_64' or platform_machine == 'AMD64'");
  CHECK(metadata.feature_priorities.at("blas_lapack") == std::vector<std::string>{"provider"});
  CHECK(metadata.property_priorities.at("blas_lapack") ==
        std::vector<FeatureValues>{{"provider", {"accelerate", "openblas"}}});
  CHECK(is_null_variant(metadata, "00000000"));
  CHECK_FALSE(is_null_variant(metadata, "x8664v4_mkl"));
}

TEST_CASE("version 0.0.2 breaks ties by a namespace without a plugin") {
  const VariantMetadata metadata = read(R"({
    "$schema": "https://variants-schema.wheelnext.dev/v0.0.2.json",
    "default-priorities": {
      "namespace": ["nvidia", "priority"],
      "property": {"priority": {"order": ["1", "2", "3"]}}
    },
    "providers": {
      "nvidia": {"enable-if": "platform_system == 'Linux'",
                 "plugin-api": "nvidia_variant_provider.plugin:NvidiaVariantPlugin",
                 "requires": ["nvidia-variant-provider>=0.0.2,<1.0.0"]},
      "priority": {"plugin-use": "none", "requires": []}
    },
    "variants": {
      "cuda12.8": {"nvidia": {"cuda_version_lower_bound": ["12.0"]}, "priority": {"order": ["2"]}},
      "null": {}
    }
  })");
  const ProviderInfo& priority = metadata.providers.at("priority");
  CHECK_FALSE(priority.install_time);
  CHECK(priority.requires_.empty());
  CHECK_FALSE(priority.static_properties.has_value());
  CHECK(metadata.property_priorities.at("priority") ==
        std::vector<FeatureValues>{{"order", {"1", "2", "3"}}});
  CHECK(metadata.providers.at("nvidia").install_time);
}

TEST_CASE("the address without a version, on the first wheels, means 0.0.2") {
  const VariantMetadata metadata = read(R"({
    "$schema": "https://variants-schema.wheelnext.dev/",
    "default-priorities": {"feature": {}, "namespace": ["p"], "property": {}},
    "providers": {"p": {"plugin-api": "plugin", "requires": ["plugin @ file:///dev/null"],
                        "plugin-use": "build"}},
    "variants": {"5d8be4b9": {"p": {"f": ["a"]}}}
  })");
  CHECK(metadata.schema_version == "0.0.2");
  CHECK_FALSE(metadata.providers.at("p").install_time);
}

TEST_CASE("a newer minor version is read with a note, unknown keys and all") {
  axle::CollectedReport report;
  const auto metadata = parse_variant_metadata(R"({
    "$schema": "https://variants-schema.wheelnext.dev/v0.3.0.json", "novelty": 1,
    "default-priorities": {"namespace": ["a", "b"], "region": ["eu"]},
    "providers": {"a": {"requires": ["a"], "cost": 5}, "b": {"remote": "https://b"}},
    "variants": {"x": {"a": {"f": ["v"]}}}
  })",
                                               "doc.json", report);
  REQUIRE_MESSAGE(metadata.has_value(), metadata.error().message);
  CHECK(metadata->schema_version == "0.3.0");
  REQUIRE(report.remarks.size() == 6);
  CHECK(report.remarks[0].message ==
        "doc.json: variant metadata of version 0.3.0 is read as version 0.2.0");
  CHECK(report.remarks[1].message == "doc.json: novelty: the unknown key is ignored");
  CHECK(report.remarks[3].message == "doc.json: providers.a.cost: the unknown key is ignored");
  CHECK(metadata->providers.at("a").requires_ == std::vector<std::string>{"a"});
}

TEST_CASE("an unknown major version is unsupported") {
  for (const char* version : {"v1.0.0", "v2.3.4", "v0.0.1", "v0.0.0"}) {
    axle::CollectedReport report;
    const auto metadata = parse_variant_metadata(
        std::string(R"({"$schema": "https://variants-schema.wheelnext.dev/)") + version +
            R"(.json", "variants": 5})",
        "doc.json", report);
    REQUIRE_FALSE(metadata.has_value());
    CHECK(metadata.error().kind == axle::ErrorKind::unsupported);
    CHECK(metadata.error().message.starts_with("doc.json: variant metadata of version "));
  }
}

TEST_CASE("properties are written and read with spaces that mean nothing") {
  CHECK(*parse_property("x86_64 :: level :: v3") == Property{"x86_64", "level", "v3"});
  CHECK(*parse_property("a::b::1.2") == Property{"a", "b", "1.2"});
  CHECK(*parse_property("  a  ::\tb ::  c ") == Property{"a", "b", "c"});
  CHECK(render_property({"a", "b", "c"}) == "a :: b :: c");
  for (const char* bad : {"", "a", "a::b", "a::b::c::d", "a:b:c", "a::b::", "::b::c", "A::b::c",
                          "a::b.c::d", "a::b::c d", "a :: b :: c!", "a::b:::c"}) {
    CAPTURE(bad);
    const auto property = parse_property(bad);
    REQUIRE_FALSE(property.has_value());
    CHECK(property.error().kind == axle::ErrorKind::malformed);
  }
}

TEST_CASE("what is written is in the order of the format and reads back the same") {
  const VariantMetadata metadata = read(full_document(variantlib_url));
  const auto text = render_variant_metadata(metadata);
  REQUIRE_MESSAGE(text.has_value(), text.error().message);
  CHECK(*text == R"({
  "$schema": "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json",
  "default-priorities": {
    "namespace": [
      "nvidia",
      "x86_64",
      "blas",
      "own"
    ]
  },
  "providers": {
    "nvidia": {
      "optional": true,
      "requires": [
        "nvidia-variant-provider"
      ],
      "plugin-api": "nvidia_variant_provider.plugin:NvidiaVariantPlugin"
    },
    "x86_64": {
      "requires": [
        "x86-64-variant-provider>=0.2,<1"
      ]
    },
    "blas": {
      "static-properties": {
        "provider": [
          "mkl",
          "openblas"
        ],
        "threads": [
          "openmp",
          "none"
        ]
      },
      "feature-order": [
        "provider",
        "threads"
      ]
    },
    "own": {
      "builtin": "own_provider"
    }
  },
  "variants": {
    "fast": {
      "blas": {
        "provider": [
          "mkl"
        ]
      },
      "x86_64": {
        "level": [
          "v3",
          "v4"
        ]
      }
    },
    "gpu_12.8": {
      "nvidia": {
        "sm_arch": [
          "80_real",
          "90_real"
        ]
      }
    },
    "null": {}
  }
}
)");
  CHECK(read(*text) == metadata);
  const auto other = render_variant_metadata(metadata, MetadataForm::variantlib);
  REQUIRE(other.has_value());
  CHECK(other->find("\"$schema\": \"" + variantlib_url + "\"") != std::string::npos);
  CHECK(read(*other) == metadata);
}

TEST_CASE("a single static feature needs no order") {
  VariantMetadata metadata;
  metadata.namespaces = {"a"};
  metadata.providers["a"].static_properties = {{"f", {"v2", "v1"}}};
  const auto text = render_variant_metadata(metadata);
  REQUIRE_MESSAGE(text.has_value(), text.error().message);
  CHECK(text->find("feature-order") == std::string::npos);
  CHECK(read(*text).providers.at("a").static_properties ==
        metadata.providers.at("a").static_properties);
}

TEST_CASE("what 0.2.0 cannot express is not written") {
  const VariantMetadata sound = read(full_document(pep850_url));
  struct Case {
    const char* message;
    void (*change)(VariantMetadata&);
  };
  const Case cases[] = {
      {"feature or property priorities",
       [](VariantMetadata& m) { m.feature_priorities["blas"] = {"provider"}; }},
      {"feature or property priorities",
       [](VariantMetadata& m) { m.property_priorities["blas"] = {{"provider", {"mkl"}}}; }},
      {"the provider \"x86_64\", which has \"enable-if\"",
       [](VariantMetadata& m) { m.providers["x86_64"].enable_if = "os_name == 'posix'"; }},
      {"the provider \"x86_64\", which takes its lists from the property priorities",
       [](VariantMetadata& m) { m.providers["x86_64"].install_time = false; }},
      {"the provider \"own\", which does not have exactly one of",
       [](VariantMetadata& m) { m.providers["own"].requires_ = {"x"}; }},
      {"the provider \"own\", which does not have exactly one of",
       [](VariantMetadata& m) { m.providers["own"].builtin.clear(); }},
      {"the provider \"own\", which has \"plugin-api\" without \"requires\"",
       [](VariantMetadata& m) { m.providers["own"].plugin_api = "x"; }},
      {"the namespace \"own\", which has no provider",
       [](VariantMetadata& m) { m.providers.erase("own"); }},
      {"the label \"00000000\" for a variant without properties",
       [](VariantMetadata& m) { m.variants["00000000"] = {}; }},
  };
  for (const Case& bad : cases) {
    VariantMetadata metadata = sound;
    bad.change(metadata);
    const auto text = render_variant_metadata(metadata);
    REQUIRE_FALSE(text.has_value());
    CHECK(text.error().kind == axle::ErrorKind::unsupported);
    CHECK_MESSAGE(text.error().message.find(bad.message) != std::string::npos,
                  text.error().message);
  }
}

TEST_CASE("metadata that breaks the rules of the format is not written") {
  VariantMetadata metadata = read(full_document(pep850_url));
  metadata.variants["BAD"] = {{"x86_64", "level", "v3"}};
  CHECK(render_variant_metadata(metadata).error().message.find(
            "\"BAD\" is not a valid variant label") != std::string::npos);
  metadata.variants.erase("BAD");
  metadata.variants["x"] = {{"unknown", "level", "v3"}};
  CHECK(render_variant_metadata(metadata).error().message.find("does not list") !=
        std::string::npos);
}

TEST_CASE("a wheel's own document keeps the priorities and one label") {
  const VariantMetadata metadata = read(full_document(pep850_url));
  const auto single = only_variant(metadata, "fast");
  REQUIRE(single.has_value());
  CHECK(single->variants.size() == 1);
  CHECK(single->variants.at("fast") == metadata.variants.at("fast"));
  CHECK(single->namespaces == metadata.namespaces);
  CHECK(single->providers == metadata.providers);
  const auto absent = only_variant(metadata, "slow");
  REQUIRE_FALSE(absent.has_value());
  CHECK(absent.error().kind == axle::ErrorKind::not_found);
  CHECK(absent.error().hint == "labels: fast, gpu_12.8, null");
}

TEST_CASE("documents of 0.0.x are written as 0.0.3, and read back the same") {
  axle::CollectedReport report;
  const std::string text = R"({"$schema": "https://variants-schema.wheelnext.dev/v0.0.3.json",
    "default-priorities": {"namespace": ["order", "x86_64"], "feature": {"x86_64": ["level"]},
      "property": {"order": {"place": ["1", "2"]}}},
    "providers": {"order": {"install-time": false},
      "x86_64": {"requires": ["p>=1"], "plugin-api": "p.plugin:P", "enable-if": "os_name == 'posix'"}},
    "static-properties": {"order": {"place": ["1", "2"]}},
    "variants": {"00000000": {}, "a": {"order": {"place": ["1"]}, "x86_64": {"level": ["v2", "v3"]}}}})";
  const auto read = axle::wheel::parse_variant_metadata(text, "old", report);
  REQUIRE(read.has_value());
  CHECK(!axle::wheel::render_variant_metadata(*read).has_value());
  const auto written = axle::wheel::render_draft_metadata(*read);
  REQUIRE(written.has_value());
  CHECK(axle::wheel::parse_variant_metadata(*written, "new", report) == *read);
  auto newer = *read;
  newer.schema_version = "0.2.0";
  CHECK(!axle::wheel::render_draft_metadata(newer).has_value());
}
