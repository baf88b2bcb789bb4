/* The C interface of a provider: it tells Axle which variant properties this machine supports in
 * one namespace, best first (PEP 850). C99 and C++; depends on nothing.
 *
 * A provider is a shared object that exports one function, axle_provider_entry. It is easiest made
 * with the macro at the end:
 *
 *     static int32_t supported(const axle_provider_sink *sink) {
 *       if (!card_is_there()) return AXLE_PROVIDER_OK;           // nothing here: nothing said
 *       axle_provider_feature(sink, "generation", AXLE_PROVIDER_SINGLE);
 *       axle_provider_value(sink, "2");                          // the most preferred value first
 *       axle_provider_value(sink, "1");
 *       return AXLE_PROVIDER_OK;
 *     }
 *     static int32_t all(const axle_provider_sink *sink) { ... every value of any machine ... }
 *     AXLE_PROVIDER("acme", "1.0", supported, all);
 *
 * WHERE IT RUNS. In a child process of its own, never in the program itself. The child has a time
 * limit (a few seconds: be done in 100 ms), limited memory, no network, may not write, start
 * programs or change the machine; stdout and stderr lead nowhere. The C++ exceptions, signals and
 * exits of a provider end that child and nothing else: its namespace then counts as not supported
 * and the user gets one warning. The library is not unloaded: the child ends instead. One query may
 * be asked, or both, in any order, each at most once a process.
 *
 * MEMORY. Everything that a provider hands over is copied before the call returns; everything that
 * it is handed is valid until its function returns. Nobody frees what another one made.
 *
 * THREADS. All calls come on one thread, and the sink may only be used on that thread and before
 * the query returns. A provider may start threads; those that still run when it returns end with
 * the child.
 *
 * WHY A SINK. Results could have been arrays that the provider owns. Then a count could be wrong,
 * memory be gone too early or never be freed. Calls have no counts and no lifetimes; a mistake
 * (a value before any feature, NULL, a text without end, a call too late) is seen at the call that
 * makes it, and the answer is refused with that call's name.
 *
 * NAMES AND VALUES (PEP 825). Namespace and feature names are of [a-z0-9_], values of [a-z0-9_.];
 * none is empty. A feature is said once, a value once in its feature. The namespaces that Axle
 * carries itself and `abi_dependency` are taken.
 *
 * WHAT MAY CHANGE. Structs begin with their size. Members may be added at their ends, limits may be
 * raised, without a new ABI version: AXLE_PROVIDER_ABI_REVISION then grows, old providers go on
 * working with new programs, and new providers with old programs as long as they look at
 * struct_size before they use a new member of the sink (AXLE_PROVIDER_HAS). Anything else is a new
 * AXLE_PROVIDER_ABI_VERSION. A program names its version when it asks; a provider that speaks
 * several answers with the table of that one. */
#ifndef AXLE_PROVIDER_H
#define AXLE_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AXLE_PROVIDER_ABI_VERSION 1
#define AXLE_PROVIDER_ABI_REVISION 0

/* Limits. What is longer or more is refused, never cut. */
#define AXLE_PROVIDER_MAX_TEXT 128     /* bytes of a namespace, name, value or version */
#define AXLE_PROVIDER_MAX_REASON 512   /* bytes of a reason */
#define AXLE_PROVIDER_MAX_FEATURES 256 /* in one answer */
#define AXLE_PROVIDER_MAX_VALUES 4096  /* in one answer, over all its features */

#if defined(__GNUC__)
#define AXLE_PROVIDER_EXPORT __attribute__((visibility("default")))
#else
#define AXLE_PROVIDER_EXPORT
#endif

/* What functions on either side return. */
enum {
  AXLE_PROVIDER_OK = 0,
  /* By a query: what is there could not be asked; the namespace counts as not supported. Say why
   * with axle_provider_reason. (That nothing is there is no failure: return OK and say nothing.) */
  AXLE_PROVIDER_FAILED = 1,
  /* By the sink: a misuse or a limit. The whole answer will be refused; there is no point in saying
   * more. It is safe to ignore. */
  AXLE_PROVIDER_REFUSED = 2
};

/* How many values of a feature one wheel may name. */
enum {
  AXLE_PROVIDER_SINGLE = 0, /* one: it names the level it needs, "v3" */
  AXLE_PROVIDER_MULTI = 1 /* any number: it names all that it carries code for, "sm_80", "sm_90" */
};

/* Where an answer goes. Made by Axle; a provider's own tests may make one too. */
typedef struct axle_provider_sink axle_provider_sink;
struct axle_provider_sink {
  uint32_t struct_size; /* of Axle's: may be larger or smaller than this header's */
  uint32_t abi_version;
  void* host; /* Axle's own */
  /* Opens a feature; the most preferred comes first. `kind` is AXLE_PROVIDER_SINGLE or _MULTI. */
  int32_t (*feature)(const axle_provider_sink* sink, const char* name, int32_t kind);
  /* One value of the feature that was opened last; the most preferred comes first. */
  int32_t (*value)(const axle_provider_sink* sink, const char* value);
  /* One English sentence (UTF-8) for the person at the machine, e.g. why nothing is supported
   * although a device is there: "driver 1.2 is older than 2.0". Shown with --verbose and in
   * warnings. */
  int32_t (*reason)(const axle_provider_sink* sink, const char* text);
};

/* What a provider is. Constant for the life of the process. */
typedef struct axle_provider {
  uint32_t struct_size; /* sizeof(axle_provider) as the provider was compiled */
  uint32_t abi_version; /* AXLE_PROVIDER_ABI_VERSION as the provider was compiled */
  const char* ns;       /* the namespace that it governs */
  const char* version;  /* its own version, as a Python package would have it: "1.0.2" */
  /* What this machine supports, best first. A feature without a value is not said. */
  int32_t (*supported)(const axle_provider_sink* sink);
  /* Every property that any machine may support, the same on every machine: what the builder of a
   * wheel checks its properties against. Looks at no hardware. */
  int32_t (*all)(const axle_provider_sink* sink);
} axle_provider;

/* The one function that a provider exports. `program_abi` is the newest version that the program
 * speaks. Returns a table that lives as long as the process; never NULL. It only returns: detection
 * belongs into the queries. */
AXLE_PROVIDER_EXPORT const axle_provider* axle_provider_entry(uint32_t program_abi);

/* Whether the running Axle's sink has a member that a later revision added. */
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
