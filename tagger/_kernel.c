/* The hot path, compiled: texts to tokens, n-grams and logits, for whole
   batches, without the interpreter's lock. Same definition, to the last bit,
   as tagger.tokens, tagger.features, tagger.judge and tagger.model, which run
   where this could not be built. Plain C11 and Python's stable interface. */

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>

#include "_reading.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_F16C 1
#else
#define HAS_F16C 0
#endif

/* ---- texts ---------------------------------------------------------------- */

struct text {
    PyObject *string; /* kept alive while no lock is held */
    const u8 *data;   /* NULL where it has no UTF-8 */
    Py_ssize_t size;
    PyObject *helped; /* what Python read, where it had to: codes and breaks */
    const char *codes, *breaks;
    Py_ssize_t n_tokens;
};

/* A batch of documents: texts 2i and 2i + 1 are title and abstract of i. */
struct batch {
    size_t n; /* documents */
    struct text *texts;
    u8 *left; /* 1 for a document that waits for Python */
};

static void free_batch(struct batch *b)
{
    for (size_t i = 0; b->texts && i < 2 * b->n; i++) {
        Py_XDECREF(b->texts[i].helped);
        Py_XDECREF(b->texts[i].string);
    }
    free(b->texts);
    free(b->left);
}

/* Take a list of strings; on failure an exception is set and b is empty. */
static int open_batch(struct batch *b, PyObject *list)
{
    memset(b, 0, sizeof *b);
    if (!PyList_Check(list) || PyList_Size(list) % 2) {
        PyErr_SetString(PyExc_TypeError, "texts must be a list of pairs of str");
        return -1;
    }
    b->n = (size_t)PyList_Size(list) / 2;
    b->texts = calloc(2 * b->n + 1, sizeof *b->texts);
    b->left = calloc(b->n + 1, 1);
    if (!b->texts || !b->left) {
        PyErr_NoMemory();
        goto failed;
    }
    for (size_t i = 0; i < 2 * b->n; i++) {
        PyObject *text = PyList_GetItem(list, (Py_ssize_t)i);
        struct text *t = &b->texts[i];
        if (!PyUnicode_Check(text)) {
            PyErr_SetString(PyExc_TypeError, "texts must be a list of pairs of str");
            goto failed;
        }
        t->string = Py_NewRef(text);
        t->data = (const u8 *)PyUnicode_AsUTF8AndSize(text, &t->size);
        if (!t->data) { /* a lone surrogate has no UTF-8 */
            if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
                goto failed;
            PyErr_Clear();
        } else if ((uint64_t)t->size >= UINT32_MAX) {
            t->data = NULL;
        }
    }
    return 0;
failed:
    free_batch(b);
    return -1;
}

static int copy_tokens(struct tokens *to, const struct text *from,
                       const struct table *table)
{
    size_t n = (size_t)from->n_tokens;
    if (room_for_tokens(to, n))
        return NO_MEMORY;
    if (n) {
        memcpy(to->codes + to->size, from->codes, 8 * n);
        memcpy(to->breaks + to->size, from->breaks, n);
    }
    for (size_t i = to->size; table && i < to->size + n; i++)
        to->numbers[i] = find(table, to->codes[i]);
    to->size += n;
    return DONE;
}

/* Read document i; *middle is where its abstract starts. PYTHON comes back,
   and is noted, where Python has to read a text first. No lock is needed. */
static int read_document(struct batch *b, size_t i, struct reader *r, size_t *middle)
{
    r->tokens.size = 0;
    for (size_t k = 2 * i; k < 2 * i + 2; k++) {
        const struct text *t = &b->texts[k];
        int state = PYTHON;
        *middle = r->tokens.size;
        if (t->helped)
            state = copy_tokens(&r->tokens, t, r->table);
        else if (t->data)
            state = read_text(r, t->data, (size_t)t->size);
        if (state == PYTHON)
            b->left[i] = 1;
        if (state)
            return state;
    }
    return DONE;
}

/* Let Python read the texts of the documents that wait for it: `help(text)`
   gives the codes of the tokens, 8 bytes each, and the breaks, a byte each. */
static int help_batch(struct batch *b, PyObject *help)
{
    for (size_t k = 0; k < 2 * b->n; k++) {
        if (!b->left[k / 2])
            continue;
        struct text *t = &b->texts[k];
        PyObject *pair = PyObject_CallFunctionObjArgs(help, t->string, NULL);
        if (!pair)
            return -1;
        t->helped = pair;
        char *codes, *breaks;
        Py_ssize_t size;
        if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
            PyErr_SetString(PyExc_TypeError, "help must give codes and breaks");
            return -1;
        }
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(pair, 0), &codes, &size) ||
            PyBytes_AsStringAndSize(PyTuple_GetItem(pair, 1), &breaks, &t->n_tokens))
            return -1;
        if (size != 8 * t->n_tokens) {
            PyErr_SetString(PyExc_ValueError, "help must give a break for every code");
            return -1;
        }
        t->codes = codes, t->breaks = breaks;
    }
    return 0;
}

/* ---- events ---------------------------------------------------------------- */

struct event_columns {
    int64_t *rows, *first, *last;
    uint64_t *codes;
    double *weights;
    size_t size, room;
};

static void free_columns(struct event_columns *e)
{
    free(e->rows);
    free(e->first);
    free(e->last);
    free(e->codes);
    free(e->weights);
}

static int room_for_events(struct event_columns *e, size_t more)
{
    if (e->size + more <= e->room)
        return DONE;
    size_t room = 2 * (e->size + more) + 256;
    if (grow((void **)&e->rows, room, 8) || grow((void **)&e->first, room, 8) ||
        grow((void **)&e->last, room, 8) || grow((void **)&e->codes, room, 8) ||
        grow((void **)&e->weights, room, 8))
        return NO_MEMORY;
    e->room = room;
    return DONE;
}

/* List the n-grams of a document, as tagger.features.ngram_events does. */
static int list_events(const struct tokens *t, size_t row, size_t middle,
                       const struct table *prefixes, size_t order, double title_weight,
                       struct event_columns *e)
{
    size_t from = e->size, to;
    if (room_for_events(e, 2 * t->size))
        return NO_MEMORY;
    for (size_t k = 0; k < t->size; k++) {
        size_t at = e->size++;
        e->rows[at] = (int64_t)row;
        e->codes[at] = t->codes[k];
        e->weights[at] = k < middle ? title_weight : 1.0;
        e->first[at] = e->last[at] = (int64_t)k;
    }
    to = e->size;
    for (size_t n = 2; from < to && (n <= order || prefixes); n++) {
        for (size_t k = from; k < to; k++) {
            size_t next = (size_t)e->last[k] + 1;
            if (next >= t->size || t->breaks[next] ||
                (n > order && !find(prefixes, e->codes[k])))
                continue;
            if (room_for_events(e, 1))
                return NO_MEMORY;
            size_t at = e->size++;
            e->rows[at] = e->rows[k];
            e->codes[at] = join(e->codes[k], t->codes[next]);
            e->weights[at] = e->weights[k];
            e->first[at] = e->first[k];
            e->last[at] = e->last[k] + 1;
        }
        from = to, to = e->size;
    }
    return DONE;
}

/* List the n-grams of every document, or, before Python has helped, see which
   documents need that. */
static int all_events(struct batch *b, int helped, const struct table *prefixes,
                      size_t order, double title_weight, struct event_columns *e)
{
    struct reader r = {0};
    int state = DONE;
    for (size_t i = 0; i < b->n && state != NO_MEMORY; i++) {
        size_t middle;
        state = read_document(b, i, &r, &middle);
        if (state == DONE && helped)
            state = list_events(&r.tokens, i, middle, prefixes, order, title_weight, e);
    }
    free_reader(&r);
    return state == NO_MEMORY ? NO_MEMORY : DONE;
}

static PyObject *py_events(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *list, *help, *buffer, *result = NULL;
    double title_weight;
    Py_ssize_t order;
    Py_buffer prefix = {0};
    struct table table = {0};
    struct batch b;
    struct event_columns e = {0};
    if (!PyArg_ParseTuple(args, "OOOdn", &list, &help, &buffer, &title_weight, &order))
        return NULL;
    if (buffer != Py_None && PyObject_GetBuffer(buffer, &prefix, PyBUF_C_CONTIGUOUS))
        return NULL;
    if (open_batch(&b, list) == 0) {
        const struct table *prefixes = prefix.obj ? &table : NULL;
        int state = DONE;
        Py_BEGIN_ALLOW_THREADS
        if (prefixes) {
            const uint64_t *codes = prefix.buf;
            size_t n = (size_t)prefix.len / 8;
            state = make_table(&table, n);
            for (size_t i = 0; state == DONE && i < n; i++)
                add_code(&table, codes[i]);
        }
        if (state == DONE)
            state = all_events(&b, 0, prefixes, (size_t)order, title_weight, &e);
        Py_END_ALLOW_THREADS
        if (state == NO_MEMORY)
            PyErr_NoMemory();
        else if (help_batch(&b, help) == 0) {
            Py_BEGIN_ALLOW_THREADS
            state = all_events(&b, 1, prefixes, (size_t)order, title_weight, &e);
            Py_END_ALLOW_THREADS
            Py_ssize_t size = (Py_ssize_t)e.size * 8;
            if (state == DONE && room_for_events(&e, 1) == DONE) /* no null pointer */
                result = Py_BuildValue("(y#y#y#y#y#)", e.rows, size, e.codes, size,
                                       e.weights, size, e.first, size, e.last, size);
            else
                PyErr_NoMemory();
        }
        free_batch(&b);
    }
    free_columns(&e);
    free_table(&table);
    if (prefix.obj)
        PyBuffer_Release(&prefix);
    return result;
}

/* ---- spans ------------------------------------------------------------------ */

/* Give starts, ends, codes and breaks of a cleaned text, or None. */
static PyObject *py_tokenize(PyObject *module, PyObject *text)
{
    (void)module;
    struct reader r = {0};
    Py_ssize_t size;
    const u8 *s = (const u8 *)PyUnicode_AsUTF8AndSize(text, &size);
    if (!s) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            return NULL;
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    if ((uint64_t)size >= UINT32_MAX)
        Py_RETURN_NONE;
    int state = tokenize(&r, s, (size_t)size);
    PyObject *result = NULL;
    if (state == NO_MEMORY) {
        PyErr_NoMemory();
    } else if (state == PYTHON) {
        result = Py_NewRef(Py_None);
    } else {
        const struct tokens *t = &r.tokens;
        PyObject *lists[4] = {NULL, NULL, NULL, NULL};
        int failed = 0;
        for (int k = 0; k < 4; k++)
            failed |= !(lists[k] = PyList_New((Py_ssize_t)t->size));
        for (size_t i = 0; !failed && i < t->size; i++) {
            PyObject *values[4] = {
                PyLong_FromUnsignedLong(t->starts[i]), PyLong_FromUnsignedLong(t->ends[i]),
                PyLong_FromUnsignedLongLong(t->codes[i]), PyBool_FromLong(t->breaks[i])};
            for (int k = 0; k < 4; k++) {
                failed |= !values[k];
                PyList_SetItem(lists[k], (Py_ssize_t)i, values[k]);
            }
        }
        if (!failed)
            result = PyTuple_Pack(4, lists[0], lists[1], lists[2], lists[3]);
        for (int k = 0; k < 4; k++)
            Py_XDECREF(lists[k]);
    }
    free_reader(&r);
    return result;
}

/* ---- scores ------------------------------------------------------------------ */

enum { CODES, IDF, WEIGHTS, PHRASES, PREFIXES, PHRASE_WEIGHTS, INTERCEPT, FUNCTION,
       EMPTY, LOGARITHM, SATURATED, N_ARRAYS };

/* Counts of which the logarithm is given: title 0-7 times, abstract 0-63. */
enum { TITLES = 8, ABSTRACTS = 64 };

/* Columns of tagger.judge.count_words. */
enum { N_COUNTS = 6 };

struct model {
    Py_buffer held[N_ARRAYS];
    struct table table; /* of n-grams, phrases, prefixes and function words */
    uint16_t *rows;     /* of half precision: one of whole lines for each entry */
    size_t stride;      /* numbers in such a row */
    size_t n_ngrams, n_themes;
    size_t order;
    double title_weight;
    int half; /* weights are half precision */
    struct seen *spare; /* words seen before, while no thread uses them */
};

static const double *floats(const struct model *m, int which) { return m->held[which].buf; }

static void free_model(struct model *m)
{
    for (int k = 0; k < N_ARRAYS; k++)
        if (m->held[k].obj)
            PyBuffer_Release(&m->held[k]);
    free_table(&m->table);
    free_lines(m->rows);
    free(m->spare);
    free(m);
}

static const char CAPSULE[] = "tagger._kernel.model";

static void drop_model(PyObject *capsule)
{
    free_model(PyCapsule_GetPointer(capsule, CAPSULE));
}

static size_t count(const struct model *m, int which) { return (size_t)m->held[which].len / 8; }

/* Inverse document frequencies lie between 0 and 16 or so. */
static uint32_t step_of(double idf, uint32_t steps)
{
    double step = 256.0 * idf;
    return step >= 0.0 && step < steps - 1 ? (uint32_t)step : steps - 1;
}

/* Number the n-grams so that frequent ones, which nearly every text needs, lie
   side by side and stay in the cache. `order` gets their columns. */
static int by_frequency(const struct model *m, uint32_t *order)
{
    enum { STEPS = 1 << 12 };
    uint32_t *places = calloc(STEPS, sizeof *places);
    if (!places)
        return NO_MEMORY;
    const double *idf = floats(m, IDF);
    for (size_t i = 0; i < m->n_ngrams; i++)
        places[step_of(idf[i], STEPS)]++;
    for (uint32_t k = 0, sum = 0; k < STEPS; k++) {
        uint32_t here = places[k];
        places[k] = sum;
        sum += here;
    }
    for (size_t i = 0; i < m->n_ngrams; i++)
        order[places[step_of(idf[i], STEPS)]++] = (uint32_t)i;
    free(places);
    return DONE;
}

static int fill_table(struct model *m, double empty_idf)
{
    const uint64_t *codes = m->held[CODES].buf, *phrases = m->held[PHRASES].buf;
    const uint64_t *prefixes = m->held[PREFIXES].buf, *words = m->held[FUNCTION].buf;
    const uint64_t *empty = m->held[EMPTY].buf;
    struct table *t = &m->table;
    uint32_t *order = malloc(4 * m->n_ngrams + 4);
    int state = order ? by_frequency(m, order) : NO_MEMORY;
    if (state == DONE)
        state = make_table(t, m->n_ngrams + count(m, PHRASES) + count(m, PREFIXES) +
                                  count(m, FUNCTION));
    if (state == DONE && m->half) {
        m->stride = (m->n_themes + LINE_SIZE / 2 - 1) / (LINE_SIZE / 2) * (LINE_SIZE / 2);
        m->rows = new_lines(2 * m->stride * (m->n_ngrams + 1));
        state = m->rows ? DONE : NO_MEMORY;
    }
    for (size_t k = 0; state == DONE && k < m->n_ngrams; k++) {
        uint32_t i = order[k];
        if (k + 16 < m->n_ngrams) {
            uint32_t ahead = order[k + 16];
            expect(t, codes[ahead]);
        }
        struct entry *e = add_code(t, codes[i]);
        e->idf = floats(m, IDF)[i];
        e->place = i + 1;
        e->marks = e->idf > empty_idf ? TELLS : 0;
        if (m->half)
            memcpy(m->rows + m->stride * (size_t)(e - t->entries),
                   (const uint16_t *)m->held[WEIGHTS].buf + m->n_themes * i,
                   2 * m->n_themes);
    }
    free(order);
    if (state)
        return state;
    for (size_t i = 0; i < count(m, PHRASES); i++)
        add_code(t, phrases[i])->marks |= (uint32_t)(i + 1) << PHRASE_SHIFT;
    for (size_t i = 0; i < count(m, PREFIXES); i++)
        add_code(t, prefixes[i])->marks |= PREFIX;
    for (size_t i = 0; i < count(m, FUNCTION); i++)
        add_code(t, words[i])->marks |= FUNCTION_WORD;
    for (size_t i = 0; i < count(m, EMPTY); i++)
        t->entries[find(t, empty[i])].marks &= ~(uint32_t)TELLS;
    return DONE;
}

static PyObject *py_model(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *arrays;
    Py_ssize_t order;
    double title_weight, empty_idf;
    if (!PyArg_ParseTuple(args, "O!ndd", &PyTuple_Type, &arrays, &order, &title_weight,
                          &empty_idf))
        return NULL;
    struct model *m = calloc(1, sizeof *m);
    if (!m)
        return PyErr_NoMemory();
    if (PyTuple_Size(arrays) != N_ARRAYS) {
        PyErr_Format(PyExc_ValueError, "a model has %d arrays", N_ARRAYS);
        goto failed;
    }
    for (int k = 0; k < N_ARRAYS; k++)
        if (PyObject_GetBuffer(PyTuple_GetItem(arrays, k), &m->held[k], PyBUF_C_CONTIGUOUS))
            goto failed;
    m->n_ngrams = count(m, CODES);
    m->n_themes = count(m, INTERCEPT);
    m->order = (size_t)order;
    m->title_weight = title_weight;
    size_t cells = m->n_ngrams * m->n_themes;
    m->half = (size_t)m->held[WEIGHTS].len == 2 * cells;
    if (m->n_ngrams >= 1u << 30 || count(m, PHRASES) >= 1u << 27 ||
        count(m, IDF) != m->n_ngrams || order < 2 ||
        (!m->half && count(m, WEIGHTS) != cells) ||
        count(m, PHRASE_WEIGHTS) != count(m, PHRASES) * m->n_themes ||
        count(m, LOGARITHM) != TITLES * ABSTRACTS ||
        count(m, SATURATED) != TITLES * ABSTRACTS) {
        PyErr_SetString(PyExc_ValueError, "the arrays of the model do not fit each other");
        goto failed;
    }
    if (fill_table(m, empty_idf)) {
        PyErr_NoMemory();
        goto failed;
    }
    PyObject *capsule = PyCapsule_New(m, CAPSULE, drop_model);
    if (capsule)
        return capsule;
failed:
    free_model(m);
    return NULL;
}

/* How often an n-gram occurs. */
struct tally {
    uint32_t title, abstract;
};

/* What one document needs; kept from document to document. */
struct work {
    uint64_t *keys, *spare; /* (2 * place, + 1 for the abstract) << 32 | entry */
    uint64_t *phrase_keys;
    uint32_t *entries;
    struct tally *tallies;
    uint64_t *pairs; /* codes, and where they start */
    uint32_t *heads, *guesses;
    double *values, *sums;
    size_t room;
};

static void free_work(struct work *w)
{
    free(w->keys);
    free(w->spare);
    free(w->entries);
    free(w->tallies);
    free(w->phrase_keys);
    free(w->pairs);
    free(w->heads);
    free(w->guesses);
    free(w->values);
    free(w->sums);
}

static int room_for_work(struct work *w, size_t n)
{
    if (n <= w->room)
        return DONE;
    n = 2 * n + 256;
    if (grow((void **)&w->keys, n, 8) || grow((void **)&w->spare, n, 8) ||
        grow((void **)&w->phrase_keys, n, 8) || grow((void **)&w->pairs, n, 8) ||
        grow((void **)&w->heads, n, 4) ||
        grow((void **)&w->guesses, n, 4) || grow((void **)&w->entries, n, 4) ||
        grow((void **)&w->tallies, n, sizeof *w->tallies) ||
        grow((void **)&w->values, n, 8))
        return NO_MEMORY;
    w->room = n;
    return DONE;
}

/* Sort by the high halves of keys, which are below `limit`. */
static void sort(uint64_t *keys, uint64_t *spare, size_t n, uint64_t limit)
{
    if (n < 24) {
        for (size_t i = 1; i < n; i++) {
            uint64_t key = keys[i];
            size_t at = i;
            for (; at && keys[at - 1] > key; at--)
                keys[at] = keys[at - 1];
            keys[at] = key;
        }
        return;
    }
    enum { BITS = 7, SIZE = 1 << BITS };
    uint64_t *from = keys, *to = spare;
    for (int shift = 32; limit; shift += 3 * BITS, limit >>= 3 * BITS) {
        uint32_t places[3][SIZE] = {{0}}, sums[3] = {0, 0, 0};
        for (size_t i = 0; i < n; i++) {
            uint64_t key = from[i] >> shift;
            places[0][key & (SIZE - 1)]++;
            places[1][key >> BITS & (SIZE - 1)]++;
            places[2][key >> 2 * BITS & (SIZE - 1)]++;
        }
        for (size_t k = 0; k < SIZE; k++)
            for (int pass = 0; pass < 3; pass++) {
                uint32_t here = places[pass][k];
                places[pass][k] = sums[pass];
                sums[pass] += here;
            }
        for (int pass = 0; pass < 3; pass++) {
            const int by = shift + pass * BITS;
            for (size_t i = 0; i < n; i++)
                to[places[pass][from[i] >> by & (SIZE - 1)]++] = from[i];
            uint64_t *last = from;
            from = to, to = last;
        }
    }
    if (from != keys)
        memcpy(keys, from, n * sizeof *keys);
}

static double half_to_double(uint16_t half)
{
    union {
        uint32_t bits;
        float value;
    } shifted = {(uint32_t)(half & 0x7FFF) << 13};
    double value = (double)shifted.value * 0x1p112;
    return half & 0x8000 ? -value : value;
}

/* Rows of weights, and how much of each is wanted. */
struct cells {
    const uint16_t *rows; /* half precision, of whole lines */
    const uint32_t *entries;
    const double *values;
    size_t n, stride;
};

enum { AHEAD = 16 }; /* rows; how early memory is asked for one */

/* Add value * row to the sums, row by row; there are as many sums as a row has
   numbers. */
static void add_rows(double *sums, const struct cells *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const uint16_t *row = c->rows + c->stride * c->entries[i];
        for (size_t k = 0; k < c->stride; k++)
            sums[k] += c->values[i] * half_to_double(row[k]);
    }
}

#if HAS_F16C
/* The same sums, a line at a time; no step is fused, so bits are equal. */
__attribute__((target("avx,f16c"))) static void add_rows_f16c(double *sums,
                                                              const struct cells *c)
{
    for (size_t k = 0; k < c->stride; k += LINE_SIZE / 2) {
        __m256d s[8];
        for (int j = 0; j < 8; j++)
            s[j] = _mm256_loadu_pd(sums + k + 4 * j);
        for (size_t i = 0; i < c->n; i++) {
            const uint16_t *row = c->rows + c->stride * c->entries[i] + k;
            if (i + AHEAD < c->n)
                PREFETCH(c->rows + c->stride * c->entries[i + AHEAD] + k);
            __m256d v = _mm256_set1_pd(c->values[i]);
            for (int j = 0; j < 4; j++) {
                __m256 w = _mm256_cvtph_ps(_mm_load_si128((const __m128i *)row + j));
                __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(w));
                __m256d high = _mm256_cvtps_pd(_mm256_extractf128_ps(w, 1));
                s[2 * j] = _mm256_add_pd(s[2 * j], _mm256_mul_pd(v, low));
                s[2 * j + 1] = _mm256_add_pd(s[2 * j + 1], _mm256_mul_pd(v, high));
            }
        }
        for (int j = 0; j < 8; j++)
            _mm256_storeu_pd(sums + k + 4 * j, s[j]);
    }
}
#endif

typedef void row_adder(double *sums, const struct cells *c);
static row_adder *add_half_rows = add_rows;

/* Weigh a count: the same sum, in the same order, as numpy's. */
static double weighed(const struct model *m, struct tally t)
{
    double sum = 0.0;
    for (uint32_t k = 0; k < t.title; k++)
        sum += m->title_weight;
    for (uint32_t k = 0; k < t.abstract; k++)
        sum += 1.0;
    return sum;
}

/* Gather sorted keys of one place to a cell; give the number of cells. */
static size_t gather(uint64_t *keys, size_t n, struct tally *tallies)
{
    size_t cells = 0;
    uint64_t last = UINT64_MAX;
    struct tally t = {0, 0};
    for (size_t i = 0; i < n; i++) {
        uint64_t key = keys[i];
        uint32_t other = key >> 33 != last >> 33, abstract = key >> 32 & 1;
        cells += other;
        t.title = (t.title & (other - 1)) + !abstract;
        t.abstract = (t.abstract & (other - 1)) + abstract;
        keys[cells - 1] = key;
        tallies[cells - 1] = t;
        last = key;
    }
    return cells;
}

static double level(const struct model *m, int which, struct tally t)
{
    if (t.title < TITLES && t.abstract < ABSTRACTS)
        return floats(m, which)[t.title * ABSTRACTS + t.abstract];
    double count = weighed(m, t);
    return which == LOGARITHM ? 1.0 + log(count) : log2(1.0 + count);
}

static size_t room_for_sums(const struct model *m)
{
    return (m->half ? m->stride : m->n_themes) + 1;
}

static void add_ngrams(const struct model *m, struct work *w, size_t n)
{
    const size_t k = m->n_themes;
    sort(w->keys, w->spare, n, 2 * (uint64_t)m->n_ngrams);
    const size_t cells = gather(w->keys, n, w->tallies);
    double square = 0.0;
    for (size_t i = 0; i < cells; i++) {
        uint32_t entry = (uint32_t)w->keys[i];
        double value = level(m, LOGARITHM, w->tallies[i]) * m->table.entries[entry].idf;
        square += value * value;
        w->entries[i] = entry;
        w->values[i] = value;
    }
    double length = sqrt(square);
    for (size_t i = 0; i < cells; i++)
        w->values[i] /= length;
    if (m->half) {
        struct cells c = {m->rows, w->entries, w->values, cells, m->stride};
        add_half_rows(w->sums, &c);
        return;
    }
    for (size_t i = 0; i < cells; i++) {
        const double *row =
            floats(m, WEIGHTS) + k * (m->table.entries[w->entries[i]].place - 1);
        for (size_t theme = 0; theme < k; theme++)
            w->sums[theme] += w->values[i] * row[theme];
    }
}

static void add_phrases(const struct model *m, struct work *w, size_t n)
{
    const size_t k = m->n_themes;
    sort(w->phrase_keys, w->spare, n, 2 * (uint64_t)count(m, PHRASES));
    const size_t cells = gather(w->phrase_keys, n, w->tallies);
    for (size_t i = 0; i < cells; i++) {
        double value = level(m, SATURATED, w->tallies[i]);
        const double *row = floats(m, PHRASE_WEIGHTS) + k * (w->phrase_keys[i] >> 33);
        for (size_t theme = 0; theme < k; theme++)
            w->sums[theme] += value * row[theme];
    }
}

/* Note a found n-gram; give 1 if it is one of the vocabulary. */
static uint32_t note(const struct model *m, struct work *w, uint32_t number,
                     uint32_t field, size_t known, size_t *found)
{
    const struct entry *e = &m->table.entries[number];
    uint32_t known_here = e->place != 0;
    w->keys[known] =
        (uint64_t)((e->place - known_here) << 1 | field) << 32 | number;
    if (m->half)
        PREFETCH(m->rows + m->stride * number);
    if (e->marks >> PHRASE_SHIFT)
        w->phrase_keys[(*found)++] =
            (uint64_t)(((e->marks >> PHRASE_SHIFT) - 1) << 1 | field) << 32;
    return known_here;
}

/* Score one document; its abstract starts at token `middle`. */
static int score(const struct model *m, struct work *w, const struct tokens *t,
                 size_t middle, double *logits, int32_t *counts)
{
    size_t n = t->size, known = 0, found = 0;
    const uint64_t *codes = t->codes;
    const u8 *breaks = t->breaks;
    memcpy(logits, m->held[INTERCEPT].buf, m->n_themes * sizeof *logits);
    if (room_for_work(w, 2 * n + 16))
        return NO_MEMORY;
    struct {
        int32_t known, telling, function, pairs, known_pairs;
    } c = {0};
    const struct table *table = &m->table;
    for (size_t i = 0; i < n; i++) {
        w->pairs[c.pairs] = join(codes[i], codes[i + (i + 1 < n)]);
        w->heads[c.pairs] = (uint32_t)i;
        expect(table, w->pairs[c.pairs]);
        c.pairs += i + 1 < n && !breaks[i + 1];
    }
    for (size_t i = 0; i < n; i++) {
        const struct entry *e = &table->entries[t->numbers[i]];
        c.telling += (e->marks & TELLS) != 0;
        c.function += (e->marks & FUNCTION_WORD) != 0;
        known += note(m, w, t->numbers[i], i >= middle, known, &found);
    }
    c.known = (int32_t)known;
    for (size_t k = 0; k < (size_t)c.pairs; k++) {
        w->guesses[k] = guess(table, w->pairs[k]);
        PREFETCH(&table->entries[w->guesses[k]]);
    }
    for (size_t k = 0; k < (size_t)c.pairs; k++) {
        size_t i = w->heads[k], next = i + 2;
        uint64_t head = w->pairs[k];
        uint32_t number = settle(table, head, w->guesses[k]);
        uint32_t known_here = note(m, w, number, i >= middle, known, &found);
        c.known_pairs += known_here;
        known += known_here;
        /* A longer one, as far as it begins a phrase. */
        for (; next < n && !breaks[next] &&
               (next - i < m->order || table->entries[number].marks & PREFIX);
             next++) {
            if (room_for_work(w, (known > found ? known : found) + 2 * n + 16))
                return NO_MEMORY;
            head = join(head, codes[next]);
            number = find(table, head);
            known += note(m, w, number, i >= middle, known, &found);
        }
    }
    const int32_t columns[N_COUNTS] = {(int32_t)n, c.known, c.telling,
                                       c.function, c.pairs, c.known_pairs};
    memcpy(counts, columns, sizeof columns);
    memset(w->sums, 0, room_for_sums(m) * sizeof *w->sums);
    add_ngrams(m, w, known);
    for (size_t k = 0; k < m->n_themes; k++)
        logits[k] += w->sums[k];
    memset(w->sums, 0, m->n_themes * sizeof *w->sums);
    add_phrases(m, w, found);
    for (size_t k = 0; k < m->n_themes; k++)
        logits[k] += w->sums[k];
    return DONE;
}

/* Score every document that does not wait for Python; `helped` in the second
   turn, when only those that did are scored. */
static int score_all(const struct model *m, struct batch *b, struct seen *seen,
                     int helped, double *logits, int32_t *counts)
{
    struct work w = {0};
    struct reader r = {.table = &m->table, .seen = seen};
    w.sums = calloc(room_for_sums(m), sizeof *w.sums);
    int state = w.sums ? DONE : NO_MEMORY;
    for (size_t i = 0; i < b->n && state != NO_MEMORY; i++) {
        size_t middle;
        if (helped && !b->left[i])
            continue;
        state = read_document(b, i, &r, &middle);
        if (state == DONE)
            state = score(m, &w, &r.tokens, middle, logits + i * m->n_themes,
                          counts + i * N_COUNTS);
    }
    free_work(&w);
    free_reader(&r);
    return state == NO_MEMORY ? NO_MEMORY : DONE;
}

static PyObject *py_score(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *capsule, *list, *help, *result = NULL;
    struct batch b;
    if (!PyArg_ParseTuple(args, "OOO", &capsule, &list, &help))
        return NULL;
    struct model *m = PyCapsule_GetPointer(capsule, CAPSULE);
    if (!m || open_batch(&b, list))
        return NULL;
    PyObject *logits =
        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(b.n * m->n_themes * 8));
    PyObject *counts = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(b.n * N_COUNTS * 4));
    /* The interpreter's lock is held: no other thread takes the same. */
    struct seen *seen = m->spare;
    m->spare = NULL;
    if (!seen)
        seen = calloc((size_t)1 << SEEN_BITS, sizeof *seen);
    if (!seen)
        PyErr_NoMemory();
    if (logits && counts && seen) {
        double *to = (double *)(void *)PyBytes_AsString(logits);
        int32_t *counted = (int32_t *)(void *)PyBytes_AsString(counts);
        int state, waiting = 0;
        Py_BEGIN_ALLOW_THREADS
        state = score_all(m, &b, seen, 0, to, counted);
        waiting = memchr(b.left, 1, b.n) != NULL;
        Py_END_ALLOW_THREADS
        if (state == DONE && waiting) {
            if (help_batch(&b, help)) {
                state = PYTHON; /* its exception is set */
            } else {
                Py_BEGIN_ALLOW_THREADS
                state = score_all(m, &b, seen, 1, to, counted);
                Py_END_ALLOW_THREADS
            }
        }
        if (state == DONE)
            result = PyTuple_Pack(2, logits, counts);
        else if (state == NO_MEMORY)
            PyErr_NoMemory();
    }
    free(m->spare);
    m->spare = seen;
    Py_XDECREF(logits);
    Py_XDECREF(counts);
    free_batch(&b);
    return result;
}

/* ---- decisions ------------------------------------------------------------------- */

enum { N_TAG = 5, N_DECISION = 6 };

/* What objects of the classes Tag and Decision are made of. Their own __init__
   would take most of the time. */
struct maker {
    PyTypeObject *tag, *decision;
    PyObject *names[N_TAG + N_DECISION]; /* of the fields of either */
    PyObject *model, *statuses[3];
};

static int open_maker(struct maker *m)
{
    static const char *const NAMES[N_TAG + N_DECISION] = {
        "theme", "probability", "source", "model", "date",
        "id", "title", "status", "reason", "tags", "_row"};
    static const char *const STATUSES[3] = {"tagged", "none", "abstained"};
    int failed = 0;
    for (int k = 0; k < N_TAG + N_DECISION; k++)
        failed |= !(m->names[k] = PyUnicode_InternFromString(NAMES[k]));
    for (int k = 0; k < 3; k++)
        failed |= !(m->statuses[k] = PyUnicode_InternFromString(STATUSES[k]));
    failed |= !(m->model = PyUnicode_InternFromString("model"));
    return failed ? -1 : 0;
}

static void free_maker(struct maker *m)
{
    for (int k = 0; k < N_TAG + N_DECISION; k++)
        Py_XDECREF(m->names[k]);
    for (int k = 0; k < 3; k++)
        Py_XDECREF(m->statuses[k]);
    Py_XDECREF(m->model);
}

/* Make an object with these fields; a value that is NULL is an exception. */
static PyObject *make(PyTypeObject *type, PyObject *const *names, PyObject *const *values,
                      int n)
{
    for (int k = 0; k < n; k++)
        if (!values[k])
            return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *object = allocate(type, 0);
    for (int k = 0; object && k < n; k++)
        if (PyObject_GenericSetAttr(object, names[k], values[k]))
            Py_CLEAR(object);
    return object;
}

static PyObject *make_tags(const struct maker *m, PyObject *themes, const double *p,
                           const u8 *given, size_t k)
{
    Py_ssize_t n = 0;
    for (size_t theme = 0; theme < k; theme++)
        n += given[theme] != 0;
    PyObject *tags = PyTuple_New(n);
    size_t last = k; /* no theme yet */
    for (Py_ssize_t at = 0; tags && at < n; at++) {
        /* The next in order: less probable than the last, or as probable and
           later. There are few. */
        size_t best = k;
        for (size_t theme = 0; theme < k; theme++) {
            if (!given[theme] || (last < k && (p[theme] > p[last] ||
                                               (p[theme] == p[last] && theme <= last))))
                continue;
            if (best == k || p[theme] > p[best])
                best = theme;
        }
        if (best == k) { /* not a number */
            PyErr_SetString(PyExc_ValueError, "probabilities must be numbers");
            Py_CLEAR(tags);
            break;
        }
        PyObject *probability = PyFloat_FromDouble(p[best]);
        PyObject *values[N_TAG] = {PyTuple_GetItem(themes, (Py_ssize_t)best), probability,
                                   m->model, Py_None, Py_None};
        PyObject *tag = make(m->tag, m->names, values, N_TAG);
        Py_XDECREF(probability);
        if (!tag || PyTuple_SetItem(tags, at, tag))
            Py_CLEAR(tags);
        last = best;
    }
    return tags;
}

static PyObject *make_decision(const struct maker *m, PyObject *record, PyObject *themes,
                               PyObject *reasons, int reason, const double *p,
                               const u8 *given, size_t k)
{
    PyObject *const *names = m->names + N_TAG;
    PyObject *decision = NULL;
    PyObject *id = PyObject_GetAttr(record, names[0]);
    PyObject *title = id ? PyObject_GetAttr(record, names[1]) : NULL;
    PyObject *tags = title ? make_tags(m, themes, p, given, k) : NULL;
    /* The probabilities as they are; numbers of Python would take half the time. */
    PyObject *row = PyBytes_FromStringAndSize((const char *)p, (Py_ssize_t)(k * sizeof *p));
    if (tags) {
        int status = reason >= 0 ? 2 : PyTuple_Size(tags) ? 0 : 1;
        PyObject *values[N_DECISION] = {
            id, title, m->statuses[status],
            reason >= 0 ? PyTuple_GetItem(reasons, reason) : Py_None, tags, row};
        decision = make(m->decision, names, values, N_DECISION);
    }
    Py_XDECREF(id);
    Py_XDECREF(title);
    Py_XDECREF(tags);
    Py_XDECREF(row);
    return decision;
}

/* Do what tagger.decide.decisions does. */
static PyObject *py_decisions(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *records, *themes, *reasons, *objects[3], *result = NULL;
    Py_buffer b[3] = {{0}, {0}, {0}}; /* probabilities, given, why not */
    struct maker m = {0};
    if (!PyArg_ParseTuple(args, "O!OOOO!O!O!O!", &PyList_Type, &records, &objects[0],
                          &objects[1], &objects[2], &PyTuple_Type, &themes,
                          &PyTuple_Type, &reasons, &PyType_Type, &m.decision,
                          &PyType_Type, &m.tag))
        return NULL;
    const Py_ssize_t n = PyList_Size(records), k = PyTuple_Size(themes);
    const Py_ssize_t sizes[3] = {n * k * 8, n * k, n};
    for (int i = 0; i < 3; i++) {
        if (PyObject_GetBuffer(objects[i], &b[i], PyBUF_C_CONTIGUOUS))
            goto done;
        if (b[i].len != sizes[i]) {
            PyErr_SetString(PyExc_ValueError, "the arrays do not fit the records");
            goto done;
        }
    }
    if (open_maker(&m) == 0)
        result = PyList_New(n);
    for (Py_ssize_t i = 0; result && i < n; i++) {
        PyObject *decision = make_decision(
            &m, PyList_GetItem(records, i), themes, reasons, ((int8_t *)b[2].buf)[i],
            (double *)b[0].buf + i * k, (u8 *)b[1].buf + i * k, (size_t)k);
        if (!decision || PyList_SetItem(result, i, decision))
            Py_CLEAR(result);
    }
done:
    free_maker(&m);
    for (int i = 0; i < 3; i++)
        if (b[i].obj)
            PyBuffer_Release(&b[i]);
    return result;
}

/* ---- checksums ------------------------------------------------------------------ */

static uint64_t word_at(const u8 *data, size_t size)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (size == 8) { /* every one but the last */
        uint64_t whole;
        memcpy(&whole, data, sizeof whole);
        return whole;
    }
#endif
    u8 padded[8] = {0};
    uint64_t word = 0;
    memcpy(padded, data, size);
    for (int k = 7; k >= 0; k--)
        word = word << 8 | padded[k];
    return word;
}

static inline uint64_t sum_of(const u8 *data, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += join(i, word_at(data + 8 * i, 8));
    return sum;
}

static uint64_t sum_plainly(const u8 *data, size_t n) { return sum_of(data, n); }
static uint64_t (*sum_words)(const u8 *data, size_t n) = sum_plainly;

#if HAS_F16C
/* The same, eight words at a time. */
__attribute__((target("avx512f,avx512dq"))) static uint64_t sum_wide(const u8 *data,
                                                                     size_t n)
{
    return sum_of(data, n);
}
#endif

/* Give the sum of tagger.store.checksum. */
static PyObject *py_checksum(PyObject *module, PyObject *object)
{
    (void)module;
    Py_buffer b;
    if (PyObject_GetBuffer(object, &b, PyBUF_C_CONTIGUOUS))
        return NULL;
    const u8 *data = b.buf;
    size_t size = (size_t)b.len, n = size / 8;
    uint64_t sum = 0;
    Py_BEGIN_ALLOW_THREADS
    sum = sum_words(data, n);
    if (size % 8)
        sum += join(n, word_at(data + 8 * n, size % 8));
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&b);
    return PyLong_FromUnsignedLongLong(join(size, sum));
}

/* ---- texts that can be printed --------------------------------------------------- */

/* Tell what tagger.values.is_clean does. */
static PyObject *py_is_clean(PyObject *module, PyObject *text)
{
    (void)module;
    Py_ssize_t size;
    const u8 *s = (const u8 *)PyUnicode_AsUTF8AndSize(text, &size);
    if (!s) {
        if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError))
            return NULL;
        PyErr_Clear();
        Py_RETURN_FALSE; /* a lone surrogate */
    }
    u8 found = 0; /* no branch, so many bytes are looked at in one step */
    for (Py_ssize_t i = 0; i < size; i++)
        found |= (u8)((s[i] < 32) & (s[i] != '\t') & (s[i] != '\n') & (s[i] != '\r')) |
                 (u8)(s[i] == 127);
    return PyBool_FromLong(!found);
}

/* ---- the module --------------------------------------------------------------- */

static PyMethodDef METHODS[] = {
    {"events", py_events, METH_VARARGS,
     "events(texts, help, prefixes, title_weight, order): columns of the n-grams."},
    {"tokenize", py_tokenize, METH_O,
     "tokenize(text): starts, ends, codes, breaks; None if left to Python."},
    {"model", py_model, METH_VARARGS,
     "model(arrays, order, title_weight, empty_idf): a model to score with."},
    {"score", py_score, METH_VARARGS, "score(model, texts, help): logits and counts."},
    {"decisions", py_decisions, METH_VARARGS,
     "decisions(records, P, given, reasons, themes, names, Decision, Tag)."},
    {"is_clean", py_is_clean, METH_O, "is_clean(text): as tagger.values.is_clean."},
    {"checksum", py_checksum, METH_O, "checksum(data): as tagger.store.checksum."},
    {NULL, NULL, 0, NULL},
};

static int start(PyObject *module)
{
    (void)module;
#if HAS_F16C
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2")) /* every such processor has F16C */
        add_half_rows = add_rows_f16c;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        sum_words = sum_wide;
#endif
    return 0;
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, (void *)start}, {0, NULL}};

static PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_kernel",
    .m_doc = "The hot path, compiled; see tagger.kernel.",
    .m_methods = METHODS,
    .m_slots = SLOTS,
};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&MODULE); }
