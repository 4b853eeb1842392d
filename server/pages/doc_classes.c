// See doc_classes.h. A class is an instruction set, a processor family and a compiler, as machines
// describe themselves: the same source becomes another program, or the program runs otherwise.
#include "server/pages/doc_classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/json_member.h"
#include "server/common/machine_class.h"
#include "server/common/str.h"
#include "server/ledger/pairs.h"
#include "sprt/sprt.h"

enum { CLASSES_SHOWN = 50, NAMES_SHOWN = 4 };

// ---- residuals ----------------------------------------------------------------------------------

// Pairs won, lost and drawn.
static void take_row(const json_t *item, double row[3]) {
    const json_t *ptnml = json_object_get(item, "ptnml");
    for (size_t i = 0; i < 5; i++)
        row[i < 2 ? 1 : i == 2 ? 2 : 0] += json_number_value(json_array_get(ptnml, i));
}

static const char *mark_of(double residual, const Chi2 *chi) {
    return !isfinite(residual)         ? ""
           : fabs(residual) > chi->z99 ? "red"
           : fabs(residual) > chi->z95 ? "yellow"
                                       : "green";
}

// How far the results of each item stand off from those of all items. Beyond z99 something may be
// wrong with one, though one of a hundred tests has such a one by chance.
static json_t *compare(const json_t *items, const char *residual, const char *mark) {
    size_t count = json_array_size(items);
    if (count > CHI2_ROWS_MAX)
        count = CHI2_ROWS_MAX;
    double(*rows)[3] = xcalloc(count + 1, sizeof *rows);
    double *residuals scope(free_ptr) = xcalloc(count + 1, sizeof *residuals);
    for (size_t i = 0; i < count; i++)
        take_row(json_array_get(items, i), rows[i]);
    Chi2 chi = chi2_workers((const double(*)[3])rows, (int)count, residuals);
    free(rows);
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_array_get(items, i);
        json_object_set_new(item, residual, real_or_null(residuals[i]));
        json_object_set_new(item, mark, json_string(mark_of(residuals[i], &chi)));
    }
    if (chi.dof == 0)
        return json_null();
    return json_pack("{s:f, s:i, s:o, s:o, s:o}", "chi2", chi.chi2, "dof", chi.dof, "p",
                     real_or_null(chi.p), "z95", real_or_null(chi.z95), "z99",
                     real_or_null(chi.z99));
}

// ---- the class of a machine ---------------------------------------------------------------------

static const char *const traits[] = {"isa", "family", "compiler"};
enum { TRAITS = sizeof traits / sizeof *traits };

// Takes the columns that describe the machine out of its row, and adds its class.
static json_t *take_traits(json_t *worker) {
    static const char *const columns[] = {"arch", "isa", "cpu", "compiler"};
    const char *arch = member_text(worker, "arch"), *isa = member_text(worker, "isa"),
               *cpu = member_text(worker, "cpu"), *compiler = member_text(worker, "compiler");
    char *family scope(free_ptr) = machine_family(cpu),
                 *class scope(free_ptr) = machine_class(arch, isa, cpu, compiler);
    json_t *out = json_pack("{s:s, s:s, s:s}", traits[0], machine_isa(arch, isa), traits[1], family,
                            traits[2], machine_compiler(compiler));
    json_object_set_new(worker, "class", json_string(class));
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        json_object_del(worker, columns[i]);
    return out;
}

// n0 … n4 as one array.
static void take_counts(json_t *worker) {
    static const char *const names[] = {"n0", "n1", "n2", "n3", "n4"};
    json_t *ptnml = json_array();
    for (int i = 0; i < 5; i++) {
        json_array_append(ptnml, json_object_get(worker, names[i]));
        json_object_del(worker, names[i]);
    }
    json_object_set_new(worker, "ptnml", ptnml);
}

// ---- classes ------------------------------------------------------------------------------------

static void add_to_class(json_t *class, json_t *worker) {
    json_t *ptnml = json_object_get(class, "ptnml");
    for (size_t i = 0; i < 5; i++) {
        json_int_t more = json_integer_value(json_array_get(json_object_get(worker, "ptnml"), i));
        json_array_set_new(ptnml, i,
                           json_integer(json_integer_value(json_array_get(ptnml, i)) + more));
    }
    json_object_set_new(class, "pairs",
                        json_integer(member_int(class, "pairs") + member_int(worker, "pairs")));
    json_array_append(json_object_get(class, "workers"), worker);
}

static void finish_class(json_t *class) {
    double counts[5], all = 0;
    json_t *workers = json_object_get(class, "workers");
    for (size_t i = 0; i < 5; i++)
        all += counts[i] = json_number_value(json_array_get(json_object_get(class, "ptnml"), i));
    EloEstimate elo = elo_estimate(counts, 5);
    json_object_set_new(class, "elo", real_or_null(all > 0 ? elo.elo : NAN));
    json_object_set_new(class, "error", real_or_null(all > 0 ? elo.error : NAN));
    json_object_set_new(class, "machines", json_integer((json_int_t)json_array_size(workers)));
    json_object_set_new(class, "comparison", compare(workers, "class_residual", "class_mark"));
    json_object_del(class, "workers");
}

static int by_pairs(const void *a, const void *b) {
    json_int_t x = member_int(*(json_t *const *)a, "pairs"),
               y = member_int(*(json_t *const *)b, "pairs");
    return (x < y) - (x > y);
}

// The values of the object, those with most pairs first.
static json_t *sorted(json_t *classes) {
    size_t count = json_object_size(classes), size = 0;
    json_t **items scope(free_ptr) = xcalloc(count + 1, sizeof(json_t *)), *class;
    json_t *out = json_array();
    const char *name;
    json_object_foreach (classes, name, class)
        items[size++] = class;
    qsort(items, size, sizeof *items, by_pairs);
    for (size_t i = 0; i < size; i++)
        json_array_append(out, items[i]);
    return out;
}

// ---- what differed ------------------------------------------------------------------------------

// "one compiler (gcc 12.2.0)", "2 compilers (gcc 12.2.0, clang 14.0.6)".
static void write_trait(Str *text, const json_t *seen, const char *one, const char *many) {
    size_t count = json_object_size(seen), shown = 0;
    const char *name;
    json_t *ignored;
    if (count == 1)
        str_printf(text, "one %s (", one);
    else
        str_printf(text, "%zu %s (", count, many);
    json_object_foreach ((json_t *)seen, name, ignored)
        if (shown < NAMES_SHOWN)
            str_printf(text, "%s%s", shown++ ? ", " : "", name);
    str_puts(text, count > NAMES_SHOWN ? ", …)" : ")");
}

static json_t *differ_text(size_t machines, json_t *const seen[TRAITS]) {
    Str text scope(str_release);
    str_init(&text, 8192);
    if (!machines)
        return json_null();
    if (machines == 1)
        str_puts(&text, "One machine: ");
    else
        str_printf(&text, "%zu machines: ", machines);
    write_trait(&text, seen[0], "instruction set", "instruction sets");
    str_puts(&text, ", ");
    write_trait(&text, seen[1], "processor family", "processor families");
    str_puts(&text, " and ");
    write_trait(&text, seen[2], "compiler", "compilers");
    str_puts(&text, ".");
    return json_string(text.data);
}

// ---- the whole ----------------------------------------------------------------------------------

static json_t *class_named(json_t *classes, const char *name) {
    json_t *class = json_object_get(classes, name);
    if (class)
        return class;
    class = json_pack("{s:s, s:I, s:[i, i, i, i, i], s:[]}", "name", name, "pairs", (json_int_t)0,
                      "ptnml", 0, 0, 0, 0, 0, "workers");
    json_object_set_new(classes, name, class);
    return class;
}

void doc_add_classes(json_t *test, json_t *workers) {
    json_auto_t *classes = json_object(), *seen = json_pack("[{}, {}, {}]");
    json_t *worker, *class;
    size_t i;
    json_array_foreach (workers, i, worker) {
        json_auto_t *own = take_traits(worker);
        take_counts(worker);
        for (size_t t = 0; t < TRAITS; t++)
            json_object_set_new(json_array_get(seen, t), member_text(own, traits[t]), json_true());
        add_to_class(class_named(classes, member_text(worker, "class")), worker);
    }
    json_object_set_new(test, "comparison", compare(workers, "residual", "mark"));
    json_t *items = sorted(classes);
    json_array_foreach (items, i, class)
        finish_class(class);
    json_t *between = compare(items, "residual", "mark");
    while (json_array_size(items) > CLASSES_SHOWN)
        json_array_remove(items, json_array_size(items) - 1);
    json_t *const sets[TRAITS] = {json_array_get(seen, 0), json_array_get(seen, 1),
                                  json_array_get(seen, 2)};
    json_object_set_new(test, "classes",
                        json_pack("{s:o, s:o, s:o}", "items", items, "comparison", between, "text",
                                  differ_text(json_array_size(workers), sets)));
}
