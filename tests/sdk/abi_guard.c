/* A provider in C99, and the layout of the interface: whatever fails to compile here breaks the
 * providers that vendors have shipped. Change a number only together with
 * AXLE_PROVIDER_ABI_VERSION; what is added at an end gets a line of its own. */
#include <axle_provider.h>

#define HOLDS(name, what) typedef char name[(what) ? 1 : -1]

HOLDS(abi_version, AXLE_PROVIDER_ABI_VERSION == 1);
HOLDS(statuses, AXLE_PROVIDER_OK == 0 && AXLE_PROVIDER_FAILED == 1 && AXLE_PROVIDER_REFUSED == 2);
HOLDS(kinds, AXLE_PROVIDER_SINGLE == 0 && AXLE_PROVIDER_MULTI == 1);
/* Limits may only grow. */
HOLDS(limits, AXLE_PROVIDER_MAX_TEXT >= 128 && AXLE_PROVIDER_MAX_REASON >= 512 &&
                  AXLE_PROVIDER_MAX_FEATURES >= 256 && AXLE_PROVIDER_MAX_VALUES >= 4096);

HOLDS(sink_struct_size, offsetof(axle_provider_sink, struct_size) == 0);
HOLDS(sink_abi_version, offsetof(axle_provider_sink, abi_version) == 4);
HOLDS(sink_host, offsetof(axle_provider_sink, host) == 8);
HOLDS(sink_feature, offsetof(axle_provider_sink, feature) == 8 + 1 * sizeof(void*));
HOLDS(sink_value, offsetof(axle_provider_sink, value) == 8 + 2 * sizeof(void*));
HOLDS(sink_reason, offsetof(axle_provider_sink, reason) == 8 + 3 * sizeof(void*));
HOLDS(sink_size, sizeof(axle_provider_sink) == 8 + 4 * sizeof(void*));

HOLDS(table_struct_size, offsetof(axle_provider, struct_size) == 0);
HOLDS(table_abi_version, offsetof(axle_provider, abi_version) == 4);
HOLDS(table_ns, offsetof(axle_provider, ns) == 8);
HOLDS(table_version, offsetof(axle_provider, version) == 8 + 1 * sizeof(void*));
HOLDS(table_supported, offsetof(axle_provider, supported) == 8 + 2 * sizeof(void*));
HOLDS(table_all, offsetof(axle_provider, all) == 8 + 3 * sizeof(void*));
HOLDS(table_size, sizeof(axle_provider) == 8 + 4 * sizeof(void*));

static int32_t say(const axle_provider_sink* sink) {
  if (!AXLE_PROVIDER_HAS(sink, reason)) return AXLE_PROVIDER_FAILED;
  axle_provider_feature(sink, "language", AXLE_PROVIDER_SINGLE);
  axle_provider_value(sink, "c99");
  return axle_provider_reason(sink, "compiled as C99");
}

/* Under another name: the C++ provider is linked into the same test. */
#define axle_provider_entry c99_provider_entry
const axle_provider* c99_provider_entry(uint32_t program_abi);
AXLE_PROVIDER("guard", "1.0", say, say);
