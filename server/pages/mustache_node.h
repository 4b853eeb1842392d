// A template as a flat array of nodes, which the parser (mustache_parse.c) makes and the renderer
// (mustache_render.c) reads. For these two and mustache.c only.
#pragma once

#include "server/common/error.h"
#include "server/pages/mustache_form.h"

enum { MUSTACHE_DEPTH_MAX = 64 };

typedef enum {
    NODE_TEXT,
    NODE_VARIABLE,
    NODE_RAW,
    NODE_SECTION,
    NODE_INVERTED,
    NODE_PARTIAL
} NodeKind;

typedef struct MustacheNode {
    NodeKind kind;
    bool line_start; // the first thing of a template line: a partial's indentation goes before it
    char *text;      // literal text, or the tag's name
    char *form;      // what follows '|' in a variable, else NULL
    size_t size;
    char *indent; // of a partial that stands alone on its line, else NULL
    int end;      // sections: index after the last node inside
} MustacheNode;

typedef struct Template {
    char *name;
    MustacheNode *nodes;
    int count, capacity;
} Template;

struct Mustache {
    MustacheFormat *format;
    MustacheIsForm *is_form;
    Template **templates; // in no order: there are a few dozen
    int count;
};

// Fills an empty template. Returns false with line and tag in `err`.
bool template_parse(Template *t, const char *text, MustacheIsForm *is_form, Error *err);
// Returns NULL if there is none.
const Template *template_find(const struct Mustache *set, const char *name);
