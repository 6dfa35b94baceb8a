/* Reading one text as `tagger.text` and `tagger.tokens` define it: UTF-8 in,
   tokens out, no Python object on the way. Whatever is rare (tags, entities,
   code points outside _unicode.h) is left to Python: PYTHON comes back. */

#include "_table.h"
#include "_unicode.h"

typedef uint8_t u8;

/* ---- memory ------------------------------------------------------------- */

struct bytes {
    u8 *data;
    size_t size, room;
};

static int make_room(struct bytes *b, size_t more)
{
    if (b->size + more <= b->room)
        return DONE;
    size_t room = 2 * (b->size + more) + 64;
    u8 *data = realloc(b->data, room);
    if (!data)
        return NO_MEMORY;
    b->data = data;
    b->room = room;
    return DONE;
}

static int put(struct bytes *b, const void *data, size_t size)
{
    if (make_room(b, size))
        return NO_MEMORY;
    if (size)
        memcpy(b->data + b->size, data, size);
    b->size += size;
    return DONE;
}

/* The first bytes of a text's token in lower case, the rest 0. */
struct word {
    uint64_t low, high;
};

/* A word that was seen before, its code, and the number of its entry. */
struct seen {
    struct word word;
    uint64_t code;
    uint32_t number;
};

enum { SEEN_BITS = 14 };

enum { NOWHERE = 1 << SEEN_BITS };

/* A token that is still to be looked up: first among the words seen before, at
   `place` unless that is NOWHERE, then in the table. */
struct waiting {
    struct word word;
    uint32_t token, place, guess;
};

/* Tokens of many texts, one after the other. */
struct tokens {
    uint64_t *codes;
    uint32_t *starts, *ends; /* in characters */
    u8 *breaks;
    uint32_t *numbers; /* of their entries, where the reader has a table */
    struct waiting *waiting;
    size_t size, room;
};

static int grow(void **array, size_t n, size_t width)
{
    void *larger = realloc(*array, n * width);
    if (!larger)
        return NO_MEMORY;
    *array = larger;
    return DONE;
}

static int room_for_tokens(struct tokens *t, size_t more)
{
    if (t->size + more <= t->room)
        return DONE;
    size_t room = 2 * (t->size + more) + 256;
    if (grow((void **)&t->codes, room, 8) || grow((void **)&t->starts, room, 4) ||
        grow((void **)&t->ends, room, 4) || grow((void **)&t->breaks, room, 1) ||
        grow((void **)&t->numbers, room, 4) ||
        grow((void **)&t->waiting, room, sizeof *t->waiting))
        return NO_MEMORY;
    t->room = room;
    return DONE;
}

static void free_tokens(struct tokens *t)
{
    free(t->codes);
    free(t->starts);
    free(t->ends);
    free(t->breaks);
    free(t->numbers);
    free(t->waiting);
}

/* What one thread works with; kept from text to text. */
struct reader {
    struct bytes one, two, norm;
    struct tokens tokens;
    const struct table *table; /* where each token is looked up, or NULL */
    struct seen *seen;         /* words so far, somebody else's, or NULL */
};

/* Let r->two, just filled, be the text. */
static void swap(struct reader *r)
{
    struct bytes spare = r->one;
    r->one = r->two, r->two = spare;
}

static void free_reader(struct reader *r)
{
    free(r->one.data);
    free(r->two.data);
    free(r->norm.data);
    free_tokens(&r->tokens);
}

/* ---- characters ----------------------------------------------------------- */

enum { ALNUM = 1, DECIMAL = 2, SPACE = 4, JOIN = 8, SIGN = 16, LETTER = 32 };

/* Of ASCII. JOIN: may stand between two tokens of one phrase. SIGN: may do so
   alone. LETTER: of the alphabet. */
#define W (SPACE | JOIN)
#define D (ALNUM | DECIMAL)
#define L (ALNUM | LETTER)
static const u8 CLASS[128] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, W, W, W, W, W, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, W, W, W, W,
    W, 0, JOIN, 0, 0, 0, SIGN, JOIN, 0, 0, 0, SIGN, 0, JOIN, SIGN, JOIN,
    D, D, D, D, D, D, D, D, D, D, SIGN, 0, 0, SIGN, 0, 0,
    SIGN, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, JOIN, JOIN,
    JOIN, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
    L, L, L, L, L, L, L, L, L, L, L, 0, SIGN, 0, JOIN, 0,
};
#undef W
#undef D
#undef L

static int is_letter(u8 c) { return c < 128 && CLASS[c] & LETTER; }
static int is_space(u8 c) { return c < 128 && CLASS[c] & SPACE; }

struct character {
    int size;       /* bytes of UTF-8 */
    uint32_t entry; /* of _unicode.h; 0 where unknown */
};

/* Read a character that is not ASCII; the text is valid UTF-8. */
static struct character decode(const u8 *s)
{
    uint32_t c;
    struct character found = {2, 0};
    if (s[0] < 0xE0) {
        c = (s[0] & 0x1Fu) << 6 | (s[1] & 0x3Fu);
    } else if (s[0] < 0xF0) {
        c = (s[0] & 0x0Fu) << 12 | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu);
        found.size = 3;
    } else {
        c = (s[0] & 0x07u) << 18 | (s[1] & 0x3Fu) << 12 | (s[2] & 0x3Fu) << 6 |
            (s[3] & 0x3Fu);
        found.size = 4;
    }
    uint32_t page = c >> 8;
    if (page < N_PAGES && PAGE[page])
        found.entry = ENTRY[(PAGE[page] - 1u) * 256u + (c & 255u)];
    return found;
}

#define KNOWN(entry) ((entry) >> 31)
#define CLASS_OF(entry) ((entry) >> 28 & 7)
#define FOLDED(entry) ((entry) >> 14 & 0x3FFF)
#define CLEANED(entry) ((entry) & 0x3FFF)

static u8 class_at(const u8 *s, size_t i, size_t n)
{
    if (i >= n)
        return 0;
    return s[i] < 0x80 ? CLASS[s[i]] : (u8)CLASS_OF(decode(s + i).entry);
}

/* Put what stands in the pool at `offset`, or the character itself at 0. */
static int put_form(struct bytes *out, uint32_t offset, const u8 *itself, int size)
{
    if (offset)
        return put(out, POOL + offset + 1, POOL[offset]);
    return put(out, itself, (size_t)size);
}

/* ---- LaTeX ---------------------------------------------------------------- */

/* Each rule looks at the backslash s[i], puts what replaces it and gives how
   much it replaces: 0 where it does not apply, or -1 - PYTHON, -1 - NO_MEMORY. */
typedef long rule(const u8 *s, size_t i, size_t n, struct bytes *out);

#define LEAVE (-1L - PYTHON)

static size_t letters_end(const u8 *s, size_t i, size_t n)
{
    while (i < n && is_letter(s[i]))
        i++;
    return i;
}

static size_t spaces_end(const u8 *s, size_t i, size_t n)
{
    while (i < n && is_space(s[i]))
        i++;
    return i;
}

static long put_text(struct bytes *out, const char *text, size_t length)
{
    return put(out, text, strlen(text)) ? -1L - NO_MEMORY : (long)length;
}

static int named(const u8 *s, size_t start, size_t end, const char *name)
{
    return end > start && s[start] == (u8)name[0] && strlen(name) == end - start &&
           !memcmp(s + start, name, end - start);
}

static long line_break(const u8 *s, size_t i, size_t n, struct bytes *out)
{
    if (i + 1 >= n || s[i + 1] != '\\')
        return 0;
    if (i + 2 < n && s[i + 2] == '[')
        return LEAVE;
    return put_text(out, " ", 2);
}

/* Put the letter at s[i] (or behind a backslash there) under its accent. */
static int accented(const u8 *s, size_t *i, size_t n, u8 accent, struct bytes *out)
{
    size_t at = *i + (*i < n && s[*i] == '\\');
    const char *place = accent ? strchr(ACCENT, accent) : NULL;
    if (!place || at >= n || !is_letter(s[at]))
        return PYTHON;
    uint32_t letter = (uint32_t)(s[at] < 'a' ? s[at] - 'A' : s[at] - 'a' + 26);
    uint32_t c = COMPOSED[place - ACCENT][letter];
    u8 two[3] = {(u8)(0xC0 | c >> 6), (u8)(0x80 | (c & 0x3F))};
    u8 three[3] = {(u8)(0xE0 | c >> 12), (u8)(0x80 | (c >> 6 & 0x3F)),
                   (u8)(0x80 | (c & 0x3F))};
    *i = at + 1;
    if (c < 0x80) /* none that is one character */
        return PYTHON;
    return c < 0x800 ? put(out, two, 2) : put(out, three, 3);
}

static int starts_letter(const u8 *s, size_t i, size_t n)
{
    i += i < n && s[i] == '\\';
    return i < n && is_letter(s[i]);
}

/* \"{o}, \'\i, \~n */
static long sign_accent(const u8 *s, size_t i, size_t n, struct bytes *out)
{
    size_t at = i + 1;
    if (at >= n || !s[at] || !strchr("`'^~\"=.", s[at]))
        return 0;
    u8 accent = s[at];
    at = spaces_end(s, at + 1, n);
    int braced = at < n && s[at] == '{';
    if (braced)
        at = spaces_end(s, at + 1, n);
    if (!starts_letter(s, at, n))
        return 0;
    int state = accented(s, &at, n, accent, out);
    if (state)
        return -1L - state;
    size_t close = spaces_end(s, at, n);
    if (braced && close < n && s[close] == '}')
        at = close + 1;
    return (long)(at - i);
}

/* \c{c}, \v s */
static long letter_accent(const u8 *s, size_t i, size_t n, struct bytes *out)
{
    size_t at = i + 1;
    if (at >= n || !s[at] || !strchr("uvHckrdb", s[at]))
        return 0;
    u8 accent = s[at];
    size_t open = spaces_end(s, at + 1, n);
    int braced = open < n && s[open] == '{';
    if (!braced && open == at + 1)
        return 0;
    at = open + (size_t)braced;
    if (!starts_letter(s, at, n))
        return 0;
    size_t after = at + 1 + (s[at] == '\\');
    if (after < n && is_letter(s[after]))
        return 0;
    int state = accented(s, &at, n, accent, out);
    if (state)
        return -1L - state;
    return (long)(at + (at < n && s[at] == '}') - i);
}

/* Give the end of a group that starts at s[i], 0 if it is none, or `LEAVE`
   where it is so long that the limit in characters might count. */
static long group_end(const u8 *s, size_t i, size_t n, size_t limit)
{
    u8 open = s[i], close = open == '[' ? ']' : '}';
    for (size_t at = i + 1; at < n; at++) {
        if (s[at] == close)
            return (long)at + 1;
        if (open == '{' && s[at] == '{')
            return 0;
        if (at - i > limit)
            return LEAVE;
    }
    return 0;
}

/* \cite[p. 3]{x}, \label{y} */
static long silent(const u8 *s, size_t i, size_t n, struct bytes *out)
{
    (void)out;
    size_t at = letters_end(s, i + 1, n);
    size_t place = 0, count = sizeof SILENT / sizeof *SILENT;
    while (place < count && !named(s, i + 1, at, SILENT[place]))
        place++;
    if (place == count)
        return 0;
    at += at < n && s[at] == '*';
    while (at < n && s[at] == '[') {
        long end = group_end(s, at, n, 200);
        if (end <= 0)
            return end;
        at = (size_t)end;
    }
    if (at >= n || s[at] != '{')
        return 0;
    long end = group_end(s, at, n, 500);
    return end <= 0 ? end : end - (long)i;
}

static long hyperlink(const u8 *s, size_t i, size_t n, struct bytes *out)
{
    (void)out;
    if (n - i < 5 || memcmp(s + i + 1, "href", 4))
        return 0;
    size_t at = spaces_end(s, i + 5, n);
    if (at >= n || s[at] != '{')
        return 0;
    long end = group_end(s, at, n, 500);
    return end <= 0 ? end : end - (long)i;
}

static long size_of_bracket(const u8 *s, size_t i, size_t n, struct bytes *out)
{
    (void)out;
    static const char *const NAMES[] = {"left",  "right", "big",   "bigl",  "bigr",
                                        "bigg",  "biggl", "biggr", "Big",   "Bigl",
                                        "Bigr",  "Bigg",  "Biggl", "Biggr"};
    size_t end = letters_end(s, i + 1, n);
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
        if (named(s, i + 1, end, NAMES[k]))
            return (long)(end - i);
    return 0;
}

static long symbol(const u8 *s, size_t i, size_t n, struct bytes *out)
{
    size_t end = letters_end(s, i + 1, n);
    if (end == i + 1)
        return 0;
    const char *text = "";
    for (size_t k = 0; k < sizeof SYMBOL / sizeof *SYMBOL; k++)
        if (named(s, i + 1, end, SYMBOL[k].name))
            text = SYMBOL[k].text;
    end += end < n && s[end] == '*';
    size_t blank = end;
    while (blank < n && (s[blank] == ' ' || s[blank] == '\t'))
        blank++;
    size_t open = spaces_end(s, end, n);
    if (blank > end && blank < n && (is_letter(s[blank]) || s[blank] == '('))
        end = blank;
    else if (open + 1 < n && s[open] == '{' && s[open + 1] == '}')
        end = open + 2;
    return put_text(out, text, end - i);
}

static long thin_space(const u8 *s, size_t i, size_t n, struct bytes *out)
{
    if (i + 1 >= n || !s[i + 1] || !strchr(",;:! ", s[i + 1]))
        return 0;
    return put_text(out, " ", 2);
}

static long escaped(const u8 *s, size_t i, size_t n, struct bytes *out)
{
    if (i + 1 >= n || !s[i + 1] || !strchr("%&_#${}", s[i + 1]))
        return 0;
    return put(out, s + i + 1, 1) ? -1L - NO_MEMORY : 2;
}

/* Apply one rule at every backslash of r->one. */
static int replace(struct reader *r, rule *apply)
{
    const u8 *s = r->one.data;
    size_t n = r->one.size, done = 0, i = 0;
    struct bytes *to = &r->two;
    to->size = 0;
    while (i < n) {
        const u8 *next = memchr(s + i, '\\', n - i);
        if (!next)
            break;
        i = (size_t)(next - s);
        size_t before = to->size; /* what the rule puts comes after what it passes */
        if (put(to, s + done, i - done))
            return NO_MEMORY;
        long length = apply(s, i, n, to);
        if (length < 0)
            return (int)(-1 - length);
        if (!length)
            to->size = before;
        else
            done = i + (size_t)length;
        i += length ? (size_t)length : 1;
    }
    if (!done) /* as mostly */
        return DONE;
    if (put(to, s + done, n - done))
        return NO_MEMORY;
    swap(r);
    return DONE;
}

/* Drop what is left of mathematics: \( \[ \- \/ and unescaped $ { }. */
static int drop_marks(struct reader *r)
{
    static const u8 MARK[256] = {['\\'] = 1, ['$'] = 2, ['{'] = 2, ['}'] = 2};
    const u8 *s = r->one.data;
    size_t n = r->one.size, done = 0;
    r->two.size = 0;
    if (make_room(&r->two, n))
        return NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        if (!MARK[s[i]])
            continue;
        int dropped = 1;
        if (MARK[s[i]] == 1)
            dropped = i + 1 < n && s[i + 1] && strchr("()[]/-", s[i + 1]) ? 2 : 0;
        else if (i && s[i - 1] == '\\')
            dropped = 0;
        if (!dropped)
            continue;
        put(&r->two, s + done, i - done);
        i += (size_t)dropped - 1;
        done = i + 1;
    }
    put(&r->two, s + done, n - done);
    swap(r);
    return DONE;
}

static int has(const u8 *s, size_t n, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= n; i++) {
        const u8 *next = memchr(s + i, word[0], n - length - i + 1);
        if (!next)
            return 0;
        if (!memcmp(next, word, length))
            return 1;
        i = (size_t)(next - s);
    }
    return 0;
}

/* Take LaTeX out of r->one. */
static int without_latex(struct reader *r)
{
    static rule *const RULES[] = {
        line_break, sign_accent, letter_accent, silent, hyperlink,
        size_of_bracket, symbol,  thin_space,   escaped,
    };
    if (memchr(r->one.data, '\\', r->one.size)) {
        if (has(r->one.data, r->one.size, "\\documentclass") ||
            has(r->one.data, r->one.size, "\\begin") ||
            has(r->one.data, r->one.size, "\\end"))
            return PYTHON;
        for (size_t k = 0; k < sizeof RULES / sizeof *RULES; k++) {
            int state = replace(r, RULES[k]);
            if (state)
                return state;
        }
    }
    return drop_marks(r);
}

/* ---- cleaning ------------------------------------------------------------- */

/* Give where the next character stands that is not ASCII, or n. */
static size_t ascii_end(const u8 *s, size_t i, size_t n)
{
    uint64_t eight;
    for (; n - i >= sizeof eight; i += sizeof eight) {
        memcpy(&eight, s + i, sizeof eight);
        if (eight & 0x8080808080808080u)
            break;
    }
    while (i < n && s[i] < 0x80)
        i++;
    return i;
}

/* Put every character of r->one that is not ASCII in its composed form. */
static int composed(struct reader *r)
{
    const u8 *s = r->one.data;
    size_t n = r->one.size;
    r->two.size = 0;
    for (size_t i = 0; i < n;) {
        size_t start = i;
        i = ascii_end(s, i, n);
        if (put(&r->two, s + start, i - start))
            return NO_MEMORY;
        if (i == n)
            break;
        struct character c = decode(s + i);
        if (!KNOWN(c.entry))
            return PYTHON;
        if (put_form(&r->two, CLEANED(c.entry), s + i, c.size))
            return NO_MEMORY;
        i += (size_t)c.size;
    }
    swap(r);
    return DONE;
}

enum { HIGH = 1, AMPERSAND = 2, ANGLE = 4, LATEX = 8, LINE = 16 };

static unsigned marks(const u8 *s, size_t n)
{
    u8 high = 0, ampersand = 0, angle = 0, latex = 0, line = 0;
    for (size_t i = 0; i < n; i++) { /* without a branch: done 16 at a time */
        u8 c = s[i];
        high |= c;
        ampersand |= c == '&';
        angle |= c == '<';
        latex |= (c == '\\') | (c == '{') | (c == '$');
        line |= c == '\n';
    }
    return (high & 0x80 ? HIGH : 0) | (ampersand ? AMPERSAND : 0) |
           (angle ? ANGLE : 0) | (latex ? LATEX : 0) | (line ? LINE : 0);
}

/* May an entity (&amp;) or a tag (<b>) stand here? */
static int has_markup(const u8 *s, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        u8 next = s[i + 1];
        if (s[i] != '<' && s[i] != '&')
            continue;
        if (s[i] == '<' && (next == '!' || next == '?'))
            return 1;
        size_t end = i + 1 + (next == '#' || next == '/');
        size_t name = end;
        while (end < n && s[end] < 0x80 &&
               (CLASS[s[end]] & ALNUM || (s[end] && strchr("_.:-", s[end]))))
            end++;
        if (end == n || (s[i] == '<' && !is_letter(s[name])) || end == name)
            continue;
        if (s[end] >= 0x80 || (s[i] == '&' ? s[end] == ';'
                                           : s[end] == '>' || s[end] == '/' ||
                                                 is_space(s[end])))
            return 1;
    }
    return 0;
}

/* Is a word parted by a hyphen at the end of a line? */
static int has_parted_word(const u8 *s, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        if (s[i] != '\n')
            continue;
        size_t before = i - (s[i - 1] == '\r');
        while (before && (s[before - 1] == ' ' || s[before - 1] == '\t'))
            before--;
        if (before && s[before - 1] == '-')
            return 1;
    }
    return 0;
}

/* The lower case of an ASCII letter or digit, else 0. */
static const u8 FOLD[256] = {
    ['0'] = '0', '1', '2', '3', '4', '5', '6', '7', '8', '9',
    ['A'] = 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm',
    'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z',
    ['a'] = 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm',
    'n', 'o', 'p', 'q', 'r', 's', 't', 'u', 'v', 'w', 'x', 'y', 'z',
};

static u8 lower(u8 c) { return c >= 'A' && c <= 'Z' ? (u8)(c | 32) : c; }

static int has_at(const u8 *s, size_t i, size_t n, const char *word)
{
    size_t length = strlen(word);
    if (n - i < length)
        return 0;
    for (size_t k = 0; k < length; k++)
        if (lower(s[i + k]) != (u8)word[k])
            return 0;
    return 1;
}

/* May the text start with a head ("Abstract-") or be a note that there is no
   text ("not available", "this paper has been withdrawn")? */
static int may_be_note(const u8 *s, size_t n)
{
    static const char *const ALONE[] = {"none", "null", "nan",     "tba",
                                        "tbd",  "unknown", "to be added"};
    static const char *const LAST[] = {"available", "provided", "given", "found"};
    size_t i = 0, end = n;
    while (i < n && s[i] < 0x80 && !(CLASS[s[i]] & ALNUM) && s[i] != '_')
        i++;
    while (end > i && s[end - 1] < 0x80 && !(CLASS[s[end - 1]] & ALNUM) &&
           s[end - 1] != '_')
        end--;
    if (i == end) /* no word at all */
        return 0;
    if (s[i] >= 0x80)
        return !(class_at(s, i, n) & ALNUM);
    int odd_end = s[end - 1] >= 0x80;
    if (has_at(s, i, n, "abstract") || has_at(s, i, n, "withdrawn"))
        return 1;
    for (size_t k = 0; k < sizeof ALONE / sizeof *ALONE; k++)
        if (has_at(s, i, n, ALONE[k]) && (odd_end || end == i + strlen(ALONE[k])))
            return 1;
    if (has_at(s, i, n, "n") && i + 1 < n &&
        (s[i + 1] >= 0x80 || s[i + 1] == '/' || is_space(s[i + 1])))
        return 1;
    if (has_at(s, i, n, "no"))
        for (size_t k = 0; k < sizeof LAST / sizeof *LAST; k++) {
            size_t size = strlen(LAST[k]);
            if (odd_end || (end - i > size && has_at(s, end - size, n, LAST[k])))
                return 1;
        }
    if (has_at(s, i, n, "the") || has_at(s, i, n, "this"))
        for (size_t at = i; at + 9 <= n; at++)
            if ((s[at] | 32) == 'w' && has_at(s, at, n, "withdrawn"))
                return 1;
    return 0;
}

/* Clean the text s; *text and *size say where the result stands. */
static int clean(struct reader *r, const u8 *s, size_t n, const u8 **text, size_t *size)
{
    unsigned found = marks(s, n);
    if (found & (AMPERSAND | ANGLE) && has_markup(s, n))
        return PYTHON;
    if (found & (HIGH | LATEX)) {
        r->one.size = 0;
        if (put(&r->one, s, n))
            return NO_MEMORY;
        if (found & HIGH)
            for (size_t i = ascii_end(s, 0, n); i < n; i = ascii_end(s, i, n)) {
                struct character c = decode(s + i);
                /* What LaTeX rules call a blank is known for ASCII only. */
                if (!KNOWN(c.entry) || (found & LATEX && CLASS_OF(c.entry) & SPACE))
                    return PYTHON;
                i += (size_t)c.size;
            }
        int state = found & LATEX ? without_latex(r) : DONE;
        if (!state)
            state = composed(r);
        if (state)
            return state;
        if (make_room(&r->one, 1))
            return NO_MEMORY;
        r->one.data[r->one.size] = 0; /* as behind the text of a string */
        s = r->one.data, n = r->one.size;
    }
    if (found & LINE && has_parted_word(s, n))
        return PYTHON;
    if (may_be_note(s, n))
        return PYTHON;
    *text = s, *size = n;
    return DONE;
}

/* ---- tokens --------------------------------------------------------------- */

#define ENDS(word)                                                                      \
    (n >= sizeof word - 1 && !memcmp(s + n - (sizeof word - 1), word, sizeof word - 1))

static size_t count_characters(const u8 *s, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (s[i] & 0xC0) != 0x80;
    return count;
}

/* Fold -ise to -ize and the plural, as `tagger.tokens.norm`; give the length,
   and whether a letter was changed. */
static size_t stem(u8 *s, size_t n, int ascii, int *changed)
{
    size_t count = ascii ? n : count_characters(s, n);
    if (count < 4 || (s[n - 1] >= '0' && s[n - 1] <= '9'))
        return n;
    size_t british = 0; /* from the end to the s of -is- */
    switch (s[n - 1]) {
    case 'e':
        british = ENDS("ise") ? 2 : 0;
        break;
    case 'd':
        british = ENDS("ised") ? 3 : 0;
        break;
    case 'r':
        british = ENDS("iser") ? 3 : 0;
        break;
    case 'g':
        british = ENDS("ising") ? 4 : 0;
        break;
    case 'n':
        british = ENDS("isation") ? 6 : 0;
        break;
    case 's':
        british = ENDS("ises") ? 3 : ENDS("isers") ? 4 : ENDS("isations") ? 7 : 0;
    }
    if (british && count >= british + 3) {
        s[n - british] = 'z';
        *changed = 1;
    }
    if (s[n - 1] != 's' || s[n - 2] == 's' || s[n - 2] == 'u' || s[n - 2] == 'i')
        return n;
    if (ENDS("ies") && count > 4) {
        s[n - 3] = 'y';
        *changed = 1;
        return n - 2;
    }
    if (ENDS("sses") || ENDS("ches") || ENDS("shes") || ENDS("xes"))
        return n - 2;
    return n - 1;
}

#define FNV_START 0xCBF29CE484222325u
#define FNV_STEP(value, byte) (((value) ^ (byte)) * 0x100000001B3u)
/* The way back: the factor is the other's inverse modulo 2**64. */
#define FNV_UNDO(value, byte) ((value) * 0xCE965057AFF6957Bu ^ (byte))

static uint64_t fnv(const u8 *s, size_t n)
{
    uint64_t value = FNV_START;
    for (size_t i = 0; i < n; i++)
        value = FNV_STEP(value, s[i]);
    return value;
}

static uint64_t join(uint64_t left, uint64_t right)
{
    uint64_t value = left * 0x9E3779B97F4A7C15u + right;
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
    value = (value ^ value >> 27) * 0x94D049BB133111EBu;
    return value ^ value >> 31;
}

/* Fold a run of letters and digits, joined by decimal signs, that starts at
   s[*i]; *at is the same place in characters. */
static int fold_run(struct bytes *norm, const u8 *s, size_t n, size_t *i, uint32_t *at,
                    int *ascii)
{
    norm->size = 0;
    *ascii = 1;
    if (make_room(norm, n - *i)) /* ASCII needs no more; the rest asks again */
        return NO_MEMORY;
    for (;;) {
        u8 class = 0;
        u8 *to = norm->data + norm->size;
        size_t from = *i, next = from;
        for (; next < n && s[next] < 0x80 && CLASS[s[next]] & ALNUM; next++)
            *to++ = lower(s[next]);
        if (next > from)
            class = CLASS[s[next - 1]];
        norm->size += next - from;
        *at += (uint32_t)(next - from);
        *i = next;
        if (next < n && s[next] >= 0x80) {
            struct character wide = decode(s + next);
            if (!KNOWN(wide.entry))
                return PYTHON;
            if (CLASS_OF(wide.entry) & ALNUM) {
                if (put_form(norm, FOLDED(wide.entry), s + next, wide.size))
                    return NO_MEMORY;
                *i += (size_t)wide.size;
                ++*at;
                *ascii = 0;
                if (make_room(norm, n - *i))
                    return NO_MEMORY;
                class = (u8)CLASS_OF(wide.entry);
                /* Here the run may go on, or end on this character. */
                if (*i < n && class_at(s, *i, n) & ALNUM)
                    continue;
                next = *i;
            }
        }
        if (!(class & DECIMAL) || next >= n ||
            (s[next] != '.' && s[next] != ',' && s[next] != ':') ||
            !(class_at(s, next + 1, n) & DECIMAL))
            return DONE;
        norm->data[norm->size++] = s[next];
        ++*i;
        ++*at;
    }
}

static void add_token(struct tokens *t, uint64_t code, uint32_t start, uint32_t end,
                      int breaks)
{
    size_t k = t->size++;
    t->codes[k] = code;
    t->starts[k] = start;
    t->ends[k] = end;
    t->breaks[k] = (u8)breaks;
}

/* Read the run of ASCII letters and digits at s[i]; give its length, 16 at
   most. Behind s[n - 1] nothing is read. */
static size_t read_word(const u8 *s, size_t i, size_t n, struct word *word)
{
    u8 end[16] = {0};
    const u8 *from = s + i;
    if (n - i < sizeof end) {
        memcpy(end, from, n - i);
        from = end;
    }
#ifdef __SSE2__
    const __m128i c = _mm_loadu_si128((const __m128i *)(const void *)from);
    const __m128i lowered = _mm_or_si128(c, _mm_set1_epi8(0x20));
    const __m128i from_a = _mm_sub_epi8(lowered, _mm_set1_epi8('a'));
    const __m128i from_0 = _mm_sub_epi8(c, _mm_set1_epi8('0'));
    const __m128i inside = _mm_or_si128(
        _mm_cmpeq_epi8(_mm_min_epu8(from_a, _mm_set1_epi8(25)), from_a),
        _mm_cmpeq_epi8(_mm_min_epu8(from_0, _mm_set1_epi8(9)), from_0));
    const size_t size =
        (size_t)__builtin_ctz(~(unsigned)_mm_movemask_epi8(inside) | 1u << 16);
    static const u8 KEPT[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                255, 255, 255, 255, 255, 255, 255, 255};
    const __m128i kept =
        _mm_loadu_si128((const __m128i *)(const void *)(KEPT + 16 - size));
    _mm_storeu_si128((__m128i *)(void *)word, _mm_and_si128(lowered, kept));
    return size;
#else
    u8 folded[16] = {0};
    size_t size = 0;
    for (; size < sizeof folded && FOLD[from[size]]; size++)
        folded[size] = FOLD[from[size]];
    memcpy(word, folded, sizeof folded);
    return size;
#endif
}

/* Where a word is remembered. */
static uint32_t place_of(const struct word *word)
{
    uint64_t mixed = (word->low ^ word->high * 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    return (uint32_t)(mixed >> (64 - SEEN_BITS));
}

/* Give the code of a word that ends within its bytes. */
static uint64_t code_of(const struct word *word)
{
    u8 s[sizeof *word];
    size_t n = 0;
    int changed = 0;
    memcpy(s, word, sizeof s);
    while (n < sizeof s && s[n])
        n++;
    n = stem(s, n, 1, &changed);
    return fnv(s, n);
}

/* Does the token s[run] to s[i] end there for sure: no decimal sign, no C++? */
static int is_whole(const u8 *s, size_t run, size_t i)
{
    static const u8 GOES_ON[128] = {
        ['.'] = 1, [','] = 1, [':'] = 1, ['+'] = 2, ['#'] = 2, ['*'] = 2,
    };
    const u8 next = s[i];
    const unsigned digit = s[i - 1] <= '9', single = i == run + 1;
    return next < 0x80 && !(GOES_ON[next] & (digit | single << 1));
}

/* Look up the tokens that wait for it: step by step for all of them, so that
   memory is awaited once for many. */
static void look_up(struct reader *r, size_t n)
{
    struct tokens *t = &r->tokens;
    const struct table *table = r->table;
    size_t missed = 0;
    for (size_t k = 0; k < n; k++) {
        const struct waiting w = t->waiting[k];
        if (w.place != NOWHERE) {
            const struct seen *seen = &r->seen[w.place];
            if (seen->word.low == w.word.low && seen->word.high == w.word.high) {
                t->codes[w.token] = seen->code;
                t->numbers[w.token] = seen->number;
                PREFETCH(&table->entries[seen->number]);
                continue;
            }
            t->codes[w.token] = code_of(&w.word);
        }
        expect(table, t->codes[w.token]);
        t->waiting[missed++] = w;
    }
    for (size_t k = 0; k < missed; k++) {
        t->waiting[k].guess = guess(table, t->codes[t->waiting[k].token]);
        PREFETCH(&table->entries[t->waiting[k].guess]);
    }
    for (size_t k = 0; k < missed; k++) {
        const struct waiting *w = &t->waiting[k];
        const uint64_t code = t->codes[w->token];
        const uint32_t number = settle(table, code, w->guess);
        t->numbers[w->token] = number;
        if (w->place != NOWHERE)
            r->seen[w->place] = (struct seen){w->word, code, number};
    }
}

/* Add the tokens of a cleaned text to r->tokens; a 0 stands behind the text. */
static int tokenize(struct reader *r, const u8 *s, size_t n)
{
    struct tokens *t = &r->tokens;
    if (room_for_tokens(t, n / 2 + 2)) /* no text has more */
        return NO_MEMORY;
    size_t i = 0, n_waiting = 0;
    uint32_t at = 0;                         /* i in characters */
    uint32_t gap = 0, parting = 0, sign = 0; /* characters since the last token */
    int first = 1, ascii;
    while (i < n) {
        u8 c = s[i];
        if (c >= 0x80) {
            struct character wide = decode(s + i);
            if (!KNOWN(wide.entry))
                return PYTHON;
            if (!(CLASS_OF(wide.entry) & ALNUM)) {
                parting += !(CLASS_OF(wide.entry) & SPACE);
                sign = c == 0xC3 && s[i + 1] == 0x97; /* the times sign */
                i += (size_t)wide.size, at++, gap++;
                continue;
            }
        } else if (!(CLASS[c] & ALNUM)) {
            if (c == '\'' && i + 1 < n && s[i + 1] == 's' &&
                !(class_at(s, i + 2, n) & ALNUM)) {
                i += 2, at += 2, gap += 2;
                continue;
            }
            parting += !(CLASS[c] & JOIN);
            sign = CLASS[c] & SIGN;
            i++, at++, gap++;
            continue;
        }
        size_t run = i;
        uint32_t start = at;
        if (r->seen) {
            struct word word;
            const size_t size = read_word(s, i, n, &word);
            if (size < sizeof word && c < 0x80 && is_whole(s, i, i + size)) {
                const uint32_t place = place_of(&word);
                PREFETCH(&r->seen[place]);
                t->waiting[n_waiting++] =
                    (struct waiting){word, (uint32_t)t->size, place, 0};
                i += size, at += (uint32_t)size;
                add_token(t, 0, start, at, first || (parting && !(gap == 1 && sign)));
                first = 0;
                gap = parting = sign = 0;
                continue;
            }
        }
        /* Nearly every token is ASCII: it is hashed as it is read. */
        uint64_t hash = FNV_START;
        int changed = 0;
        ascii = 1;
        r->norm.size = 0;
        if (make_room(&r->norm, n - i))
            return NO_MEMORY;
        u8 *to = r->norm.data;
        const u8 *next = s + i;
        for (u8 low; (low = FOLD[*next]); next++) { /* ends at the 0 behind s */
            hash = FNV_STEP(hash, low);
            *to++ = low;
        }
        i = (size_t)(next - s);
        at += (uint32_t)(i - run);
        r->norm.size = i - run;
        int joins = i < n && (s[i] == '.' || s[i] == ',' || s[i] == ':');
        if (i < n && (s[i] >= 0x80 || (joins && i > run && s[i - 1] <= '9'))) {
            i = run, at = start;
            changed = 1;
            int state = fold_run(&r->norm, s, n, &i, &at, &ascii);
            if (state)
                return state;
        }
        if (i == run + 1 && is_letter(c) && i < n) { /* C++, C#, A* */
            size_t more = 0;
            if (s[i] == '+' && i + 1 < n && s[i + 1] == '+')
                more = 2;
            else if (s[i] == '#' || s[i] == '*')
                more = 1;
            if (more && !(class_at(s, i + more, n) & ALNUM)) {
                if (put(&r->norm, s + i, more))
                    return NO_MEMORY;
                changed = 1;
                i += more, at += (uint32_t)more;
            }
        }
        size_t length = stem(r->norm.data, r->norm.size, ascii, &changed);
        if (changed)
            hash = fnv(r->norm.data, length);
        else
            for (size_t last = r->norm.size; last > length; last--)
                hash = FNV_UNDO(hash, r->norm.data[last - 1]);
        if (r->table)
            t->waiting[n_waiting++] =
                (struct waiting){{0, 0}, (uint32_t)t->size, NOWHERE, 0};
        add_token(t, hash, start, at, first || (parting && !(gap == 1 && sign)));
        first = 0;
        gap = parting = sign = 0;
    }
    look_up(r, n_waiting);
    return DONE;
}

/* Clean and tokenize; PYTHON leaves r->tokens as it was. */
static int read_text(struct reader *r, const u8 *s, size_t n)
{
    size_t before = r->tokens.size, size;
    const u8 *text;
    int state = clean(r, s, n, &text, &size);
    if (!state)
        state = tokenize(r, text, size);
    if (state)
        r->tokens.size = before;
    return state;
}
