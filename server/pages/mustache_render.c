// Renders nodes with a document into text. Rendering only reads the templates, so any thread may do
// it.
#include "server/pages/mustache.h"
#include "server/pages/mustache_node.h"

#include <stdlib.h>
#include <string.h>

#include "server/common/visible.h"

typedef struct Render {
    const Mustache *set;
    json_t *stack[MUSTACHE_DEPTH_MAX]; // contexts, innermost last; borrowed
    int depth, partials;
    char indent[MUSTACHE_DEPTH_MAX];
    Str *out;
    Error *err;
} Render;

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
           !(json_is_array(value) && json_array_size(value) == 0) &&
           !(json_is_string(value) && json_string_length(value) == 0) &&
           !(json_is_number(value) && json_number_value(value) == 0);
}

static void put_html(Str *out, const char *text, size_t size) {
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

// A field of a form keeps its characters, because it comes back as it was put there.
static bool is_field(const MustacheNode *node) {
    return node->form && !strcmp(node->form, "field");
}

static void put_escaped(Str *out, const MustacheNode *node, const Str *text) {
    if (is_field(node)) {
        put_html(out, text->data, text->size);
        return;
    }
    Str visible scope(str_release);
    str_init(&visible, out->max);
    visible_add(&visible, text->data, text->size, true);
    put_html(out, visible.data, visible.size);
    out->overflow |= visible.overflow;
}

static void value_text(const Render *r, const MustacheNode *node, const json_t *value, Str *out) {
    const char *form = is_field(node) ? NULL : node->form;
    if (json_is_string(value) && !form)
        str_add(out, json_string_value(value), json_string_length(value));
    else if (r->set->format)
        r->set->format(form, value, out);
    else if (!json_is_null(value)) {
        char *text scope(free_ptr) = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        str_puts(out, text ? text : "");
    }
}

static void render_value(Render *r, const MustacheNode *node) {
    const json_t *value = lookup(r, node->text);
    if (!value)
        return;
    Str text;
    str_init(&text, r->out->max);
    value_text(r, node, value, &text);
    r->out->overflow |= text.overflow;
    if (node->kind == NODE_RAW)
        str_add(r->out, text.data, text.size);
    else
        put_escaped(r->out, node, &text);
    str_release(&text);
}

static bool render_nodes(Render *r, const Template *t, int from, int to);

static bool render_in(Render *r, const Template *t, int from, int to, json_t *context) {
    if (r->depth == MUSTACHE_DEPTH_MAX)
        return error_set(r->err, 500, "bad_template", "%s: contexts nested too deeply", t->name);
    r->stack[r->depth++] = context;
    bool ok = render_nodes(r, t, from, to);
    r->depth--;
    return ok;
}

static bool render_section(Render *r, const Template *t, int index) {
    const MustacheNode *node = &t->nodes[index];
    json_t *value = lookup(r, node->text), *item;
    size_t i;
    if (node->kind == NODE_INVERTED)
        return truthy(value) || render_nodes(r, t, index + 1, node->end);
    if (!truthy(value))
        return true;
    if (!json_is_array(value))
        return render_in(r, t, index + 1, node->end, value);
    json_array_foreach (value, i, item) {
        if (!render_in(r, t, index + 1, node->end, item))
            return false;
    }
    return true;
}

// {{> *name}}: the document says which partial.
static const char *partial_name(const Render *r, const MustacheNode *node) {
    const char *name =
        *node->text == '*' ? json_string_value(lookup(r, node->text + 1)) : node->text;
    return name ? name : "";
}

static bool render_partial(Render *r, const MustacheNode *node) {
    const Template *t = template_find(r->set, partial_name(r, node));
    if (!t)
        return true;
    if (r->partials == MUSTACHE_DEPTH_MAX)
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
        const MustacheNode *node = &t->nodes[i];
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
