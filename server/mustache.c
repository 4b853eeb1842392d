// See mustache.h. A template is parsed into a flat array of nodes; a section knows where it ends.
#include "mustache.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, TEMPLATE_MAX = 1 << 20, NAME_MAX_SIZE = 200 };

typedef enum {
    NODE_TEXT,
    NODE_VARIABLE,
    NODE_RAW,
    NODE_SECTION,
    NODE_INVERTED,
    NODE_PARTIAL
} NodeKind;

typedef struct Node {
    NodeKind kind;
    bool line_start; // the first thing of a template line: a partial's indentation goes before it
    char *text;      // literal text, or the tag's name
    size_t size;
    char *indent; // of a partial that stands alone on its line, else NULL
    int end;      // sections: index after the last node inside
} Node;

typedef struct Template {
    char *name;
    Node *nodes;
    int count, capacity;
} Template;

struct Mustache {
    MustacheFormat *format;
    Template **templates; // sorted by nothing: a few dozen
    int count;
};

// ---- parsing
// ---------------------------------------------------------------------------------------

typedef struct Parser {
    const char *text, *at;
    char open[8], close[8];
    Template *template;
    int stack[DEPTH_MAX], depth; // open sections, as indices of nodes
    bool line_start;
    Error *err;
} Parser;

static Node *node_add(Parser *p, NodeKind kind, const char *text, size_t size) {
    Template *t = p->template;
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? t->capacity * 2 : 32;
        t->nodes = xrealloc(t->nodes, sizeof *t->nodes * (size_t)t->capacity);
    }
    Node *node = &t->nodes[t->count++];
    *node = (Node){.kind = kind, .text = xstrndup(text, size), .size = size};
    return node;
}

// One node a line, so that rendering knows where lines begin.
static void parse_text(Parser *p, const char *from, const char *to) {
    while (from < to) {
        const char *newline = memchr(from, '\n', (size_t)(to - from));
        const char *end = newline ? newline + 1 : to;
        Node *node = node_add(p, NODE_TEXT, from, (size_t)(end - from));
        node->line_start = p->line_start;
        p->line_start = newline != NULL;
        from = end;
    }
}

static bool parse_error(Parser *p, const char *where, const char *what, const char *name) {
    int line = 1;
    for (const char *c = p->text; c < where; c++)
        line += *c == '\n';
    return error_set(p->err, 500, "bad_template", "%s, line %d: %s%s%s", p->template->name, line,
                     what, *name ? " " : "", name);
}

// {{=<% %>=}}: `inner` is what stands between the equals signs.
static bool parse_delimiters(Parser *p, const char *where, const char *inner, size_t size) {
    char copy[32] = "", *save = NULL;
    if (size >= sizeof copy)
        return parse_error(p, where, "delimiters too long", "");
    memcpy(copy, inner, size);
    const char *open = strtok_r(copy, " \t\n", &save), *close = strtok_r(NULL, " \t\n", &save);
    if (!open || !close || strlen(open) >= sizeof p->open || strlen(close) >= sizeof p->close)
        return parse_error(p, where, "unreadable delimiters", "");
    memcpy(p->open, open, strlen(open) + 1);
    memcpy(p->close, close, strlen(close) + 1);
    return true;
}

static bool section_open(Parser *p, const char *where, NodeKind kind, const char *name,
                         size_t size) {
    if (p->depth == DEPTH_MAX)
        return parse_error(p, where, "sections nested too deeply", "");
    p->stack[p->depth++] = p->template->count;
    node_add(p, kind, name, size);
    return true;
}

static bool section_close(Parser *p, const char *where, const char *name, size_t size) {
    Node *open = p->depth ? &p->template->nodes[p->stack[p->depth - 1]] : NULL;
    if (!open || open->size != size || memcmp(open->text, name, size)) {
        char *copy scope(free_ptr) = xstrndup(name, size);
        return parse_error(p, where, "this closes a section that is not open:", copy);
    }
    open->end = p->template->count;
    p->depth--;
    return true;
}

typedef struct Tag {
    char sigil;                 // # ^ / > ! = & { or 0 for a plain variable
    const char *name, *stop;    // trimmed content
    const char *before, *after; // from the opening to behind the closing delimiter
} Tag;

static bool tag_read(Parser *p, const char *open, Tag *tag) {
    const char *c = open + strlen(p->open);
    *tag = (Tag){.before = open};
    if (*c && strchr("#^/>!=&{", *c))
        tag->sigil = *c++;
    char close[12];
    size_t n = 0;
    if (tag->sigil == '{' || tag->sigil == '=')
        close[n++] = tag->sigil == '{' ? '}' : '=';
    memcpy(close + n, p->close, strlen(p->close) + 1);
    const char *end = strstr(c, close);
    if (!end)
        return parse_error(p, open, "a tag is not closed", "");
    tag->after = end + strlen(close);
    while (c < end && isspace((unsigned char)*c))
        c++;
    while (end > c && isspace((unsigned char)end[-1]))
        end--;
    tag->name = c;
    tag->stop = end;
    if (tag->sigil != '!' && (c == end || end - c > NAME_MAX_SIZE))
        return parse_error(p, open, "a tag has no usable name", "");
    return true;
}

// A tag that prints nothing and is alone on its line takes the whole line with it.
static bool tag_standalone(const Parser *p, const Tag *tag, const char **line, const char **next) {
    if (!tag->sigil || strchr("&{", tag->sigil))
        return false;
    const char *b = tag->before, *a = tag->after;
    while (b > p->text && (b[-1] == ' ' || b[-1] == '\t'))
        b--;
    if (b > p->text && b[-1] != '\n')
        return false;
    if (b < p->at) // something before it on the line was consumed already: another tag
        return false;
    while (*a == ' ' || *a == '\t')
        a++;
    if (a[0] == '\r' && a[1] == '\n')
        a++;
    if (*a && *a != '\n')
        return false;
    *line = b;
    *next = *a ? a + 1 : a;
    return true;
}

static bool tag_apply(Parser *p, const Tag *tag, const char *indent, size_t indent_size) {
    size_t size = (size_t)(tag->stop - tag->name);
    switch (tag->sigil) {
    case '!':
        return true;
    case '=':
        return parse_delimiters(p, tag->before, tag->name, size);
    case '#':
    case '^':
        return section_open(p, tag->before, tag->sigil == '#' ? NODE_SECTION : NODE_INVERTED,
                            tag->name, size);
    case '/':
        return section_close(p, tag->before, tag->name, size);
    }
    NodeKind kind = tag->sigil == '>'    ? NODE_PARTIAL
                    : tag->sigil == '\0' ? NODE_VARIABLE
                                         : NODE_RAW;
    Node *node = node_add(p, kind, tag->name, size);
    if (kind == NODE_PARTIAL && indent_size)
        node->indent = xstrndup(indent, indent_size);
    else
        node->line_start = p->line_start;
    p->line_start = p->line_start && kind == NODE_PARTIAL;
    return true;
}

static bool parse(Parser *p) {
    const char *open;
    while ((open = strstr(p->at, p->open))) {
        Tag tag;
        const char *line, *next;
        if (!tag_read(p, open, &tag))
            return false;
        bool alone = tag_standalone(p, &tag, &line, &next);
        parse_text(p, p->at, alone ? line : open);
        if (!tag_apply(p, &tag, alone ? line : open, alone ? (size_t)(open - line) : 0))
            return false;
        p->at = alone ? next : tag.after;
        if (alone)
            p->line_start = true;
    }
    parse_text(p, p->at, p->at + strlen(p->at));
    if (p->depth)
        return parse_error(p, p->at, "a section is never closed:",
                           p->template->nodes[p->stack[p->depth - 1]].text);
    return true;
}

// ---- rendering
// -------------------------------------------------------------------------------------

typedef struct Render {
    const Mustache *set;
    json_t *stack[DEPTH_MAX]; // contexts, innermost last; borrowed
    int depth, partials;
    char indent[DEPTH_MAX];
    Str *out;
    Error *err;
} Render;

static const Template *template_find(const Mustache *set, const char *name) {
    for (int i = 0; i < set->count; i++)
        if (!strcmp(set->templates[i]->name, name))
            return set->templates[i];
    return NULL;
}

// The value of a dotted name: its first part from the nearest context that has it, the rest below.
static json_t *lookup(const Render *r, const char *name) {
    if (!strcmp(name, "."))
        return r->stack[r->depth - 1];
    const char *dot = strchr(name, '.');
    size_t size = dot ? (size_t)(dot - name) : strlen(name);
    json_t *value = NULL;
    for (int i = r->depth - 1; i >= 0 && !value; i--)
        value = json_object_getn(r->stack[i], name, size);
    while (value && dot) {
        name = dot + 1;
        dot = strchr(name, '.');
        size = dot ? (size_t)(dot - name) : strlen(name);
        value = json_object_getn(value, name, size);
    }
    return value;
}

static bool truthy(const json_t *value) {
    return value && !json_is_null(value) && !json_is_false(value) &&
           !(json_is_array(value) && json_array_size(value) == 0);
}

static void put_escaped(Str *out, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        const char *entity = text[i] == '&'    ? "&amp;"
                             : text[i] == '<'  ? "&lt;"
                             : text[i] == '>'  ? "&gt;"
                             : text[i] == '"'  ? "&quot;"
                             : text[i] == '\'' ? "&#39;"
                                               : NULL;
        if (entity)
            str_puts(out, entity);
        else
            str_putc(out, text[i]);
    }
}

static void value_text(const Render *r, const char *name, const json_t *value, Str *out) {
    const char *last = strrchr(name, '.');
    if (json_is_string(value))
        str_add(out, json_string_value(value), json_string_length(value));
    else if (r->set->format)
        r->set->format(last && last[1] ? last + 1 : name, value, out);
    else if (!json_is_null(value)) {
        char *text scope(free_ptr) = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        str_puts(out, text ? text : "");
    }
}

static void render_value(Render *r, const Node *node) {
    const json_t *value = lookup(r, node->text);
    if (!value)
        return;
    Str text;
    str_init(&text, r->out->max);
    value_text(r, node->text, value, &text);
    if (node->kind == NODE_RAW)
        str_add(r->out, text.data, text.size);
    else
        put_escaped(r->out, text.data, text.size);
    str_release(&text);
}

static bool render_nodes(Render *r, const Template *t, int from, int to);

static bool render_in(Render *r, const Template *t, int from, int to, json_t *context) {
    if (r->depth == DEPTH_MAX)
        return error_set(r->err, 500, "bad_template", "%s: contexts nested too deeply", t->name);
    r->stack[r->depth++] = context;
    bool ok = render_nodes(r, t, from, to);
    r->depth--;
    return ok;
}

static bool render_section(Render *r, const Template *t, int index) {
    const Node *node = &t->nodes[index];
    json_t *value = lookup(r, node->text), *item;
    size_t i;
    if (node->kind == NODE_INVERTED)
        return truthy(value) || render_nodes(r, t, index + 1, node->end);
    if (!truthy(value))
        return true;
    if (!json_is_array(value))
        return render_in(r, t, index + 1, node->end, value);
    json_array_foreach(value, i, item) {
        if (!render_in(r, t, index + 1, node->end, item))
            return false;
    }
    return true;
}

static bool render_partial(Render *r, const Node *node) {
    const Template *t = template_find(r->set, node->text);
    if (!t)
        return true;
    if (r->partials == DEPTH_MAX)
        return error_set(r->err, 500, "bad_template", "%s: partials nested too deeply", t->name);
    size_t old = strlen(r->indent), more = node->indent ? strlen(node->indent) : 0;
    if (old + more < sizeof r->indent && more)
        memcpy(r->indent + old, node->indent, more + 1);
    r->partials++;
    bool ok = render_nodes(r, t, 0, t->count);
    r->partials--;
    r->indent[old] = 0;
    return ok;
}

static bool render_nodes(Render *r, const Template *t, int from, int to) {
    for (int i = from; i < to; i++) {
        const Node *node = &t->nodes[i];
        bool ok = true;
        if (node->line_start && r->indent[0])
            str_puts(r->out, r->indent);
        if (node->kind == NODE_TEXT)
            str_add(r->out, node->text, node->size);
        else if (node->kind == NODE_PARTIAL)
            ok = render_partial(r, node);
        else if (node->kind == NODE_SECTION || node->kind == NODE_INVERTED) {
            ok = render_section(r, t, i);
            i = node->end - 1;
        } else
            render_value(r, node);
        if (!ok)
            return false;
    }
    return true;
}

bool mustache_render(const Mustache *set, const char *name, json_t *document, Str *out,
                     Error *err) {
    const Template *t = template_find(set, name);
    if (!t)
        return error_set(err, 500, "no_template", "there is no template %s", name);
    Render r = {.set = set, .stack = {document}, .depth = 1, .out = out, .err = err};
    if (!render_nodes(&r, t, 0, t->count))
        return false;
    return !out->overflow ||
           error_set(err, 500, "too_large", "%s renders to over %zu bytes", name, out->max);
}

// ---- the set
// ---------------------------------------------------------------------------------------

static void template_free(Template *t) {
    for (int i = 0; i < t->count; i++) {
        free(t->nodes[i].text);
        free(t->nodes[i].indent);
    }
    free(t->nodes);
    free(t->name);
    free(t);
}

Mustache *mustache_new(MustacheFormat *format) {
    Mustache *set = xcalloc(1, sizeof *set);
    set->format = format;
    return set;
}

void mustache_free(Mustache *set) {
    if (!set)
        return;
    for (int i = 0; i < set->count; i++)
        template_free(set->templates[i]);
    free(set->templates);
    free(set);
}

bool mustache_has(const Mustache *set, const char *name) {
    return template_find(set, name);
}

bool mustache_add(Mustache *set, const char *name, const char *text, Error *err) {
    if (strlen(text) > TEMPLATE_MAX)
        return error_set(err, 500, "bad_template", "%s is over %d bytes", name, TEMPLATE_MAX);
    if (mustache_has(set, name))
        return error_set(err, 500, "bad_template", "there are two templates %s", name);
    Template *t = xcalloc(1, sizeof *t);
    t->name = xstrdup(name);
    Parser p = {.text = text,
                .at = text,
                .open = "{{",
                .close = "}}",
                .template = t,
                .line_start = true,
                .err = err};
    if (!parse(&p)) {
        template_free(t);
        return false;
    }
    set->templates = xrealloc(set->templates, sizeof *set->templates * (size_t)(set->count + 1));
    set->templates[set->count++] = t;
    return true;
}
