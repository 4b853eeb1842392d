// The set of templates: see mustache.h.
#include "server/pages/mustache.h"
#include "server/pages/mustache_node.h"

#include <stdlib.h>
#include <string.h>

enum { TEMPLATE_MAX = 1 << 20 };

const Template *template_find(const Mustache *set, const char *name) {
    for (int i = 0; i < set->count; i++)
        if (!strcmp(set->templates[i]->name, name))
            return set->templates[i];
    return NULL;
}

static void template_free(Template *t) {
    for (int i = 0; i < t->count; i++) {
        free(t->nodes[i].text);
        free(t->nodes[i].form);
        free(t->nodes[i].indent);
    }
    free(t->nodes);
    free(t->name);
    free(t);
}

Mustache *mustache_new(MustacheFormat *format, MustacheIsForm *is_form) {
    Mustache *set = xcalloc(1, sizeof *set);
    set->format = format;
    set->is_form = is_form;
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
    if (!template_parse(t, text, set->is_form, err)) {
        template_free(t);
        return false;
    }
    set->templates = xrealloc(set->templates, sizeof *set->templates * (size_t)(set->count + 1));
    set->templates[set->count++] = t;
    return true;
}
