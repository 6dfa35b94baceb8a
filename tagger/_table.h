/* Finding 64-bit codes: in memory that is laid out for the cache. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#ifdef __linux__
#include <sys/mman.h>
#endif

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)0)
#endif

enum { DONE = 0, PYTHON = 1, NO_MEMORY = -1 };

/* ---- memory --------------------------------------------------------------- */

enum { LINE_SIZE = 64, PAGE_SIZE = 1 << 21 };

/* Give memory full of zeros that starts a line of the cache, or NULL. What is
   large lies in large pages where the system has them, so that the processor
   need not look up where each small one is. */
static void *new_lines(size_t size)
{
    const size_t step = size < PAGE_SIZE ? LINE_SIZE : PAGE_SIZE;
    char *all = malloc(size + step + sizeof all);
    if (!all)
        return NULL;
    char *lines = all + sizeof all;
    lines += step - (uintptr_t)lines % step;
    memcpy(lines - sizeof all, &all, sizeof all);
#ifdef MADV_HUGEPAGE
    if (step == PAGE_SIZE)
        madvise(lines, size, MADV_HUGEPAGE); /* a wish; it may well fail */
#endif
    return memset(lines, 0, size);
}

static void free_lines(void *lines)
{
    char *all = NULL;
    if (lines)
        memcpy(&all, (char *)lines - sizeof all, sizeof all);
    free(all);
}

/* ---- tables of codes ------------------------------------------------------- */

/* What is known of a code. Entry 0 is nobody's. */
struct entry {
    uint64_t code;
    double idf;
    uint32_t place; /* 1 + the column of an n-gram */
    uint32_t marks; /* 16 * (1 + the number of a phrase), and the bits below */
};

enum { TELLS = 2, FUNCTION_WORD = 4, PREFIX = 8, PHRASE_SHIFT = 4 };

/* A bucket fills one line of the cache. A tag is the low half of a code; no two
   are equal within a bucket. Whether and where a code is found takes no branch
   that a processor could guess wrong. */
enum { WAYS = 8 };
#define MORE (1u << 31) /* in entries[0]: something went on to the next bucket */

struct bucket {
    uint32_t tags[WAYS];
    uint32_t entries[WAYS]; /* numbers of entries, 0 for none */
};

struct table {
    struct bucket *buckets;
    struct entry *entries;
    size_t n_entries, mask;
    int shift;
};

static void free_table(struct table *t)
{
    free_lines(t->buckets);
    free_lines(t->entries);
}

/* Make room for n codes. */
static int make_table(struct table *t, size_t n)
{
    int bits = 1;
    while (((size_t)5 << bits) < n)
        bits++;
    t->mask = ((size_t)1 << bits) - 1;
    t->shift = 64 - bits;
    t->buckets = new_lines(sizeof *t->buckets << bits);
    t->entries = new_lines((n + 1) * sizeof *t->entries);
    t->n_entries = 1;
    return t->buckets && t->entries ? DONE : NO_MEMORY;
}

static size_t first_bucket(const struct table *t, uint64_t code)
{
    return (size_t)(code * 0x9E3779B97F4A7C15u >> t->shift);
}

static uint32_t tagged(const struct bucket *b, uint32_t tag)
{
#ifdef __SSE2__
    const __m128i *tags = (const __m128i *)(const void *)b->tags;
    const __m128i *entries = (const __m128i *)(const void *)b->entries;
    const __m128i wanted = _mm_set1_epi32((int)tag);
    __m128i any = _mm_or_si128(
        _mm_and_si128(_mm_load_si128(entries),
                      _mm_cmpeq_epi32(_mm_load_si128(tags), wanted)),
        _mm_and_si128(_mm_load_si128(entries + 1),
                      _mm_cmpeq_epi32(_mm_load_si128(tags + 1), wanted)));
    any = _mm_or_si128(any, _mm_unpackhi_epi64(any, any));
    any = _mm_or_si128(any, _mm_shuffle_epi32(any, 1));
    return (uint32_t)_mm_cvtsi128_si32(any) & ~MORE;
#else
    uint32_t found = 0;
    for (int k = 0; k < WAYS; k++)
        found |= b->entries[k] & (0u - (b->tags[k] == tag));
    return found & ~MORE;
#endif
}

/* Give the number of the entry that a code has if it has one. */
static uint32_t guess(const struct table *t, uint64_t code)
{
    return tagged(&t->buckets[first_bucket(t, code)], (uint32_t)code);
}

/* Give the number of a code's entry, or 0. */
static uint32_t settle(const struct table *t, uint64_t code, uint32_t guessed)
{
    uint32_t other = t->entries[guessed].code != code;
    size_t at = first_bucket(t, code);
    while (other & t->buckets[at].entries[0] >> 31) { /* rare */
        at = (at + 1) & t->mask;
        guessed = tagged(&t->buckets[at], (uint32_t)code);
        other = t->entries[guessed].code != code;
    }
    return guessed & (other - 1);
}

static uint32_t find(const struct table *t, uint64_t code)
{
    return settle(t, code, guess(t, code));
}

/* Give the entry of a code, a new one if there is none. */
static struct entry *add_code(struct table *t, uint64_t code)
{
    uint32_t found = find(t, code);
    if (found)
        return &t->entries[found];
    size_t at = first_bucket(t, code);
    for (;; at = (at + 1) & t->mask) {
        struct bucket *b = &t->buckets[at];
        int way = 0;
        while (way < WAYS && b->entries[way] & ~MORE)
            way++;
        if (way < WAYS && !tagged(b, (uint32_t)code)) {
            b->tags[way] = (uint32_t)code;
            b->entries[way] |= (uint32_t)t->n_entries;
            break;
        }
        b->entries[0] |= MORE;
    }
    t->entries[t->n_entries].code = code;
    return &t->entries[t->n_entries++];
}

static void expect(const struct table *t, uint64_t code)
{
    PREFETCH(&t->buckets[first_bucket(t, code)]);
}
