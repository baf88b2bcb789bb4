/* The C interface of a provider, which reports to Axle the variant properties that this machine
 * supports in one namespace, best first (PEP 850). C99 and C++; no dependencies.
 *
 * A provider is a shared object that exports one function, axle_provider_entry. The macro at the
 * end of this file defines it:
 *
 *     static int32_t supported(const axle_provider_sink *sink) {
 *       if (!card_is_there()) return AXLE_PROVIDER_OK;           // no device: no properties
 *       axle_provider_feature(sink, "generation", AXLE_PROVIDER_SINGLE);
 *       axle_provider_value(sink, "2");                          // the most preferred value first
 *       axle_provider_value(sink, "1");
 *       return AXLE_PROVIDER_OK;
 *     }
 *     static int32_t all(const axle_provider_sink *sink) { ... every value of any machine ... }
 *     AXLE_PROVIDER("acme", "1.0", supported, all);
 *
 * WHERE IT RUNS. In a child process of its own, never in the program itself. The child has a time
 * limit (a few seconds: finish within 100 ms) and limited memory. It has no network access and may
 * not write files, start programs or change the machine; stdout and stderr are discarded. C++
 * exceptions, signals and exits of a provider end only that child: its namespace then counts as not
 * supported and the user gets one warning. The library is not unloaded: the child exits instead. A
 * process may run one query or both, in any order, each at most once.
 *
 * MEMORY. Everything that a provider passes is copied before the call returns; everything passed to
 * it is valid until its function returns. Each side frees only what it allocated.
 *
 * THREADS. All calls are made on one thread, and the sink may only be used on that thread and
 * before the query returns. A provider may start threads; those still running when it returns end
 * with the child.
 *
 * WHY A SINK. If results were arrays owned by the provider, a count could be wrong, and memory
 * could be freed too early or never. Calls have no counts and no lifetimes; a mistake (a value
 * before any feature, NULL, an unterminated text, a call too late) is detected at the call that
 * makes it, and the answer is refused with the name of that call.
 *
 * NAMES AND VALUES (PEP 825). Namespace and feature names consist of [a-z0-9_], values of
 * [a-z0-9_.]; none is empty. A feature appears once, and a value once in its feature. The
 * namespaces that Axle includes itself and `abi_dependency` are reserved.
 *
 * COMPATIBILITY. Structs begin with their size. Members may be added at the end, and limits may be
 * raised, without a new ABI version: AXLE_PROVIDER_ABI_REVISION is then incremented, old providers
 * keep working with new programs, and new providers with old programs as long as they check
 * struct_size before they use a new member of the sink (AXLE_PROVIDER_HAS). Any other change is a
 * new AXLE_PROVIDER_ABI_VERSION. A program passes its version to axle_provider_entry; a provider
 * that supports several returns the table for that one. */
#ifndef AXLE_PROVIDER_H
#define AXLE_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AXLE_PROVIDER_ABI_VERSION 1
#define AXLE_PROVIDER_ABI_REVISION 0

/* Limits. Longer or more input is refused, never truncated. */
#define AXLE_PROVIDER_MAX_TEXT 128     /* bytes of a namespace, name, value or version */
#define AXLE_PROVIDER_MAX_REASON 512   /* bytes of a reason */
#define AXLE_PROVIDER_MAX_FEATURES 256 /* in one answer */
#define AXLE_PROVIDER_MAX_VALUES 4096  /* in one answer, over all its features */

#if defined(__GNUC__)
#define AXLE_PROVIDER_EXPORT __attribute__((visibility("default")))
#else
#define AXLE_PROVIDER_EXPORT
#endif

/* Return values of functions on either side. */
enum {
  AXLE_PROVIDER_OK = 0,
  /* From a query: a device is present but could not be queried; the namespace counts as not
   * supported. Give the reason with axle_provider_reason. (A missing device is not a failure:
   * return OK without values.) */
  AXLE_PROVIDER_FAILED = 1,
  /* From the sink: misuse, or a limit is exceeded. The whole answer will be refused; further calls
   * have no effect. It is safe to ignore. */
  AXLE_PROVIDER_REFUSED = 2
};

/* How many values of a feature a wheel may name. */
enum {
  AXLE_PROVIDER_SINGLE = 0, /* one: the level that it needs, "v3" */
  AXLE_PROVIDER_MULTI = 1   /* any number: all that it has code for, "sm_80", "sm_90" */
};

/* Receives an answer. Created by Axle; a provider's own tests may create one too. */
typedef struct axle_provider_sink axle_provider_sink;
struct axle_provider_sink {
  uint32_t struct_size; /* of Axle's sink: may be larger or smaller than in this header */
  uint32_t abi_version;
  void* host; /* private to Axle */
  /* Opens a feature; the most preferred comes first. `kind` is AXLE_PROVIDER_SINGLE or _MULTI. */
  int32_t (*feature)(const axle_provider_sink* sink, const char* name, int32_t kind);
  /* Adds a value to the feature opened last; the most preferred comes first. */
  int32_t (*value)(const axle_provider_sink* sink, const char* value);
  /* One English sentence (UTF-8) for the user, e.g. why nothing is supported although a device is
   * present: "driver 1.2 is older than 2.0". Shown with --verbose and in
   * warnings. */
  int32_t (*reason)(const axle_provider_sink* sink, const char* text);
};

/* Describes a provider. Constant for the lifetime of the process. */
typedef struct axle_provider {
  uint32_t struct_size; /* sizeof(axle_provider) as the provider was compiled */
  uint32_t abi_version; /* AXLE_PROVIDER_ABI_VERSION as the provider was compiled */
  const char* ns;       /* the namespace of its properties */
  const char* version;  /* its own version, in the form of a Python package: "1.0.2" */
  /* What this machine supports, best first. A feature without a value is left out. */
  int32_t (*supported)(const axle_provider_sink* sink);
  /* Every property that any machine may support, the same on every machine: builders check the
   * properties of wheels against it. Does not look at hardware. */
  int32_t (*all)(const axle_provider_sink* sink);
} axle_provider;

/* The function that a provider exports. `program_abi` is the newest version that the program
 * supports. Returns a table that is valid as long as the process; never NULL. It must do nothing
 * else: detection belongs in the queries. */
AXLE_PROVIDER_EXPORT const axle_provider* axle_provider_entry(uint32_t program_abi);

/* Whether the running Axle's sink has a member that was added in a later revision. */
#define AXLE_PROVIDER_HAS(sink, member) \
  ((sink)->struct_size >= offsetof(axle_provider_sink, member) + sizeof((sink)->member))

static inline int32_t axle_provider_feature(const axle_provider_sink* sink, const char* name,
                                            int32_t kind) {
  return sink->feature(sink, name, kind);
}

static inline int32_t axle_provider_value(const axle_provider_sink* sink, const char* value) {
  return sink->value(sink, value);
}

static inline int32_t axle_provider_reason(const axle_provider_sink* sink, const char* text) {
  return sink->reason(sink, text);
}

/* Defines axle_provider_entry: at namespace scope, once, in one source file, followed by a
 * semicolon. */
#define AXLE_PROVIDER(ns_, version_, supported_, all_)                                  \
  AXLE_PROVIDER_EXPORT const axle_provider* axle_provider_entry(uint32_t program_abi) { \
    static const axle_provider table = {sizeof(axle_provider),                          \
                                        AXLE_PROVIDER_ABI_VERSION,                      \
                                        (ns_),                                          \
                                        (version_),                                     \
                                        (supported_),                                   \
                                        (all_)};                                        \
    (void)program_abi;                                                                  \
    return &table;                                                                      \
  }                                                                                     \
  struct axle_provider_sink

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* AXLE_PROVIDER_H */
