/* Providers that do what a provider must not, one a macro BEHAVIOUR_<name>;
 * tests/sdk/hostile_test.cpp says what each must come to. `nothing_wrong` is the measure. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <axle_provider.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char gigantic[1 << 20]; /* filled on first use, ends after a megabyte */

static const char* gigantic_text(void) {
  memset(gigantic, 'a', sizeof gigantic - 1);
  return gigantic;
}

/* A page of letters without an end, and behind it one that may not be read. */
static const char* endless_text(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* text = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(text, 'a', page);
  mprotect(text + page, page, PROT_NONE);
  return text;
}

static int32_t say(const axle_provider_sink* sink, const char* feature, const char* value) {
  axle_provider_feature(sink, feature, AXLE_PROVIDER_SINGLE);
  return axle_provider_value(sink, value);
}

static void hang(void) {
  volatile int goes_on = 1;
  while (goes_on) usleep(1000);
}

static void crash(void) {
  volatile int* nowhere = (volatile int*)8;
  *nowhere = 1;
}

#if defined(BEHAVIOUR_crash_in_constructor) || defined(BEHAVIOUR_exit_in_constructor) || \
    defined(BEHAVIOUR_hang_in_constructor)
__attribute__((constructor)) static void construct(void) {
#if defined(BEHAVIOUR_crash_in_constructor)
  crash();
#elif defined(BEHAVIOUR_exit_in_constructor)
  _exit(0);
#else
  hang();
#endif
}
#endif

#if defined(BEHAVIOUR_looks_for_secrets)
/* Whether the user's secret (hostile_test.cpp) is anywhere in this process. */
static int is_in_memory(void) {
  const char mirrored[] = "terces s'resu eht";
  const size_t length = sizeof mirrored - 1, size = 1 << 20;
  char* page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char secret[sizeof mirrored] = {0}, line[512];
  for (size_t i = 0; i < length; ++i) secret[i] = mirrored[length - 1 - i];
  FILE* maps = fopen("/proc/self/maps", "r");
  const int memory = open("/proc/self/mem", O_RDONLY);
  if (maps == NULL || memory < 0) return 1; /* a test that cannot look has found nothing out */
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long first = 0, end = 0;
    if (sscanf(line, "%lx-%lx r", &first, &end) != 2 || first == (unsigned long)page) continue;
    for (unsigned long at = first; at < end; at += size - length) {
      const ssize_t got = pread(memory, page, end - at < size ? end - at : size, (off_t)at);
      if (got <= 0) break;
      const char* hit = page;
      while ((hit = memmem(hit, (size_t)(page + got - hit), secret, length)) != NULL) {
        if (at + (unsigned long)(hit - page) != (unsigned long)secret) return 1;
        ++hit;
      }
    }
  }
  return 0;
}
#endif

static const axle_provider_sink* stolen;

static void* talk_on(void* sink) {
  say(sink, "from_a_thread", "1");
  return NULL;
}

static void* talk_for_ever(void* nothing) {
  (void)nothing;
  while (stolen != NULL) say(stolen, "for_ever", "1");
  return NULL;
}

static void* wait_for_ever(void* nothing) {
  (void)nothing;
  hang();
  return NULL;
}

static void start(void* (*work)(void*), void* with, int and_join) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, with) != 0) abort();
  if (and_join) pthread_join(thread, NULL);
}

static int32_t misbehave(const axle_provider_sink* sink) {
  int i;
  char text[32];
  (void)i, (void)text, (void)sink;
#if defined(BEHAVIOUR_nothing_here)
  axle_provider_reason(sink, "no card is plugged in");
#elif defined(BEHAVIOUR_crash_in_query)
  crash();
#elif defined(BEHAVIOUR_abort_in_query)
  abort();
#elif defined(BEHAVIOUR_exit_in_query)
  say(sink, "said", "1");
  exit(0);
#elif defined(BEHAVIOUR_hang_in_query)
  signal(SIGTERM, SIG_IGN);
  say(sink, "said", "1");
  hang();
#elif defined(BEHAVIOUR_null_feature)
  say(sink, NULL, "1");
#elif defined(BEHAVIOUR_null_value)
  say(sink, "said", NULL);
#elif defined(BEHAVIOUR_value_before_feature)
  axle_provider_value(sink, "1");
#elif defined(BEHAVIOUR_negative_kind)
  axle_provider_feature(sink, "said", -1);
  axle_provider_value(sink, "1");
#elif defined(BEHAVIOUR_gigantic_value)
  say(sink, "said", gigantic_text());
#elif defined(BEHAVIOUR_endless_value)
  say(sink, "said", endless_text());
#elif defined(BEHAVIOUR_endless_reason)
  axle_provider_reason(sink, endless_text());
#elif defined(BEHAVIOUR_capital_feature)
  say(sink, "Said", "1");
#elif defined(BEHAVIOUR_value_with_newline)
  say(sink, "said", "1\n2");
#elif defined(BEHAVIOUR_value_not_utf8)
  say(sink, "said", "\xff\xfe");
#elif defined(BEHAVIOUR_empty_value)
  say(sink, "said", "");
#elif defined(BEHAVIOUR_value_twice)
  say(sink, "said", "1");
  axle_provider_value(sink, "1");
#elif defined(BEHAVIOUR_feature_twice)
  say(sink, "said", "1");
  say(sink, "said", "2");
#elif defined(BEHAVIOUR_feature_without_values)
  axle_provider_feature(sink, "said", AXLE_PROVIDER_MULTI);
#elif defined(BEHAVIOUR_too_many_features)
  for (i = 0; i < 300; ++i) {
    snprintf(text, sizeof text, "f%d", i);
    say(sink, text, "1");
  }
#elif defined(BEHAVIOUR_values_without_end)
  axle_provider_feature(sink, "said", AXLE_PROVIDER_MULTI);
  for (i = 0;; ++i) {
    snprintf(text, sizeof text, "v%d", i);
    axle_provider_value(sink, text);
  }
#elif defined(BEHAVIOUR_too_many_values)
  axle_provider_feature(sink, "said", AXLE_PROVIDER_MULTI);
  for (i = 0; i < 10000; ++i) {
    snprintf(text, sizeof text, "v%d", i);
    axle_provider_value(sink, text);
  }
#elif defined(BEHAVIOUR_failed_with_a_reason)
  axle_provider_reason(sink, "driver 1.2 is older than 2.0");
  return AXLE_PROVIDER_FAILED;
#elif defined(BEHAVIOUR_prints)
  puts("hello from the driver");
  fflush(stdout);
  fputs("and an error\n", stderr);
  say(sink, "said", "1");
#elif defined(BEHAVIOUR_floods)
  for (;;) puts("all work and no play makes a dull driver");
#elif defined(BEHAVIOUR_talks_on_a_thread)
  start(talk_on, (void*)(uintptr_t)sink, 1);
  say(sink, "said", "1");
#elif defined(BEHAVIOUR_thread_outlives_the_query)
  start(wait_for_ever, NULL, 0);
  say(sink, "said", "1");
#elif defined(BEHAVIOUR_thread_talks_after_the_query)
  stolen = sink;
  say(sink, "said", "1");
  start(talk_for_ever, NULL, 0);
#elif defined(BEHAVIOUR_writes_into_the_pipe)
  for (i = 3; i < 16; ++i) {
    if (write(i, "{\"namespace\":", 13) < 0) continue;
  }
  say(sink, "said", "1");
#elif defined(BEHAVIOUR_closes_everything)
  for (i = 0; i < 256; ++i) close(i);
  say(sink, "said", "1");
#elif defined(BEHAVIOUR_starts_a_program)
  if (system("true") != 0) return AXLE_PROVIDER_FAILED;
#elif defined(BEHAVIOUR_forks)
  if (fork() < 0) return AXLE_PROVIDER_FAILED;
#elif defined(BEHAVIOUR_takes_all_memory)
  for (;;) {
    char* much = malloc(1 << 20);
    if (much == NULL) abort();
    memset(much, 1, 1 << 20);
  }
#elif defined(BEHAVIOUR_bends_the_sink)
  ((axle_provider_sink*)(uintptr_t)sink)->host = NULL;
  say(sink, "said", "1");
#elif defined(BEHAVIOUR_looks_at_devices)
  if (access("/sys/class/mem/null/dev", F_OK) == 0 || access("/dev/null", F_OK) == 0)
    say(sink, "said", "1");
#elif defined(BEHAVIOUR_looks_for_secrets)
  say(sink, "said", getenv("AXLE_TEST_SECRET") == NULL && !is_in_memory() ? "1" : "found");
#else
  say(sink, "said", "1");
#endif
  return AXLE_PROVIDER_OK;
}

static int32_t all(const axle_provider_sink* sink) {
  say(sink, "said", "1");
  return AXLE_PROVIDER_OK;
}

static axle_provider table = {
    sizeof(axle_provider), AXLE_PROVIDER_ABI_VERSION, "hostile", "1.0", misbehave, all};

#if !defined(BEHAVIOUR_no_entry)
const axle_provider* axle_provider_entry(uint32_t program_abi) {
  (void)program_abi;
#if defined(BEHAVIOUR_crash_in_entry)
  crash();
#elif defined(BEHAVIOUR_null_table)
  return NULL;
#elif defined(BEHAVIOUR_newer_abi)
  table.abi_version = AXLE_PROVIDER_ABI_VERSION + 1;
#elif defined(BEHAVIOUR_abi_zero)
  table.abi_version = 0;
#elif defined(BEHAVIOUR_small_table)
  table.struct_size = 8;
#elif defined(BEHAVIOUR_negative_size)
  table.struct_size = (uint32_t)-1;
#elif defined(BEHAVIOUR_larger_table)
  /* As a provider of a later revision has it: what comes behind is not known here. */
  static struct {
    axle_provider known;
    void* later[8];
  } later;
  later.known = table;
  later.known.struct_size = sizeof later;
  return &later.known;
#elif defined(BEHAVIOUR_null_query)
  table.supported = NULL;
#elif defined(BEHAVIOUR_null_namespace)
  table.ns = NULL;
#elif defined(BEHAVIOUR_endless_namespace)
  table.ns = endless_text();
#elif defined(BEHAVIOUR_another_namespace)
  table.ns = "nvidia";
#elif defined(BEHAVIOUR_namespace_not_utf8)
  table.ns = "hostile\xff";
#elif defined(BEHAVIOUR_null_version)
  table.version = NULL;
#endif
  return &table;
}
#endif

/* Not every behaviour uses every one of them. */
void* hostile_parts[] = {(void*)(uintptr_t)gigantic_text,
                         (void*)(uintptr_t)endless_text,
                         (void*)(uintptr_t)hang,
                         (void*)(uintptr_t)crash,
                         (void*)(uintptr_t)talk_on,
                         (void*)(uintptr_t)talk_for_ever,
                         (void*)(uintptr_t)wait_for_ever,
                         (void*)(uintptr_t)start,
                         (void*)&stolen,
                         (void*)&table};
