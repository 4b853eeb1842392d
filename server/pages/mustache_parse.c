// Parses templates into nodes: tags, delimiters, and tags that have a line of their own.
// mustache_render.c renders the nodes.
#include "server/pages/mustache_node.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE_MAX = 200 };

typedef struct Parser {
    const char *text, *at;
    char open[8], close[8];
    Template *template;
    int stack[MUSTACHE_DEPTH_MAX], depth; // open sections, as indices of nodes
    bool line_start;
    MustacheIsForm *is_form;
    Error *err;
} Parser;

static MustacheNode *node_add(Parser *p, NodeKind kind, const char *text, size_t size) {
    Template *t = p->template;
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? t->capacity * 2 : 32;
        t->nodes = xrealloc(t->nodes, sizeof *t->nodes * (size_t)t->capacity);
    }
    MustacheNode *node = &t->nodes[t->count++];
    *node = (MustacheNode){.kind = kind, .text = xstrndup(text, size), .size = size};
    return node;
}

// Adds one node for each line, so that the renderer knows where lines begin.
static void parse_text(Parser *p, const char *from, const char *to) {
    while (from < to) {
        const char *newline = memchr(from, '\n', (size_t)(to - from));
        const char *end = newline ? newline + 1 : to;
        MustacheNode *node = node_add(p, NODE_TEXT, from, (size_t)(end - from));
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

// {{=<% %>=}}: `inner` is the text between the equals signs, two words.
static bool parse_delimiters(Parser *p, const char *where, const char *inner, size_t size) {
    char *copy scope(free_ptr) = xstrndup(inner, size);
    size_t open = strcspn(copy, " \t\r\n");
    const char *close = copy + open + strspn(copy + open, " \t\r\n");
    bool good = open && *close && open < sizeof p->open && strlen(close) < sizeof p->close;
    if (!good || strpbrk(close, " \t\r\n") || strchr(copy, '='))
        return parse_error(p, where, "unreadable delimiters", "");
    memcpy(p->close, close, strlen(close) + 1);
    copy[open] = 0;
    memcpy(p->open, copy, open + 1);
    return true;
}

static bool section_open(Parser *p, const char *where, NodeKind kind, const char *name,
                         size_t size) {
    if (p->depth == MUSTACHE_DEPTH_MAX)
        return parse_error(p, where, "sections nested too deeply", "");
    p->stack[p->depth++] = p->template->count;
    node_add(p, kind, name, size);
    return true;
}

static bool section_close(Parser *p, const char *where, const char *name, size_t size) {
    MustacheNode *open = p->depth ? &p->template->nodes[p->stack[p->depth - 1]] : NULL;
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
    if (tag->sigil != '!' && (c == end || end - c > NAME_SIZE_MAX))
        return parse_error(p, open, "a tag has no usable name", "");
    return true;
}

// A tag that prints nothing and is alone on its line takes the whole line with it.
static bool tag_standalone(const Parser *p, const Tag *tag, const char **line, const char **next) {
    if (!tag->sigil || strchr("&{", tag->sigil))
        return false;
    const char *b = tag->before, *a = tag->after;
    assert(b && a);
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

static bool form_set(Parser *p, MustacheNode *node, const Tag *tag, const char *form) {
    while (form < tag->stop && isspace((unsigned char)*form))
        form++;
    node->form = xstrndup(form, (size_t)(tag->stop - form));
    if (!p->is_form || strcmp(node->form, "field") == 0 || p->is_form(node->form))
        return true;
    return parse_error(p, tag->before, "there is no form", node->form);
}

static bool variable_add(Parser *p, const Tag *tag) {
    size_t size = (size_t)(tag->stop - tag->name);
    const char *bar = memchr(tag->name, '|', size);
    size_t length = bar ? (size_t)(bar - tag->name) : size;
    while (bar && length && isspace((unsigned char)tag->name[length - 1]))
        length--;
    MustacheNode *node = node_add(p, tag->sigil ? NODE_RAW : NODE_VARIABLE, tag->name, length);
    node->line_start = p->line_start;
    p->line_start = false;
    return !bar || form_set(p, node, tag, bar + 1);
}

// A tag that is alone on its line indents all lines of the partial.
static void partial_add(Parser *p, const char *name, size_t size, const char *indent,
                        size_t indent_size) {
    MustacheNode *node = node_add(p, NODE_PARTIAL, name, size);
    if (indent_size)
        node->indent = xstrndup(indent, indent_size);
    else
        node->line_start = p->line_start;
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
    case '>':
        partial_add(p, tag->name, size, indent, indent_size);
        return true;
    }
    return variable_add(p, tag);
}

static bool parse_tags(Parser *p) {
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
        assert(p->at);
        if (alone)
            p->line_start = true;
    }
    parse_text(p, p->at, p->at + strlen(p->at));
    if (p->depth)
        return parse_error(p, p->at, "a section is never closed:",
                           p->template->nodes[p->stack[p->depth - 1]].text);
    return true;
}

bool template_parse(Template *t, const char *text, MustacheIsForm *is_form, Error *err) {
    Parser p = {.text = text,
                .at = text,
                .open = "{{",
                .close = "}}",
                .template = t,
                .line_start = true,
                .is_form = is_form,
                .err = err};
    return parse_tags(&p);
}
