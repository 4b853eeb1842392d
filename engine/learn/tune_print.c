// Writes the values as C source: the text of eval/values.c.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "learn/tune.h"

enum { LINE_MAX_COLUMNS = 100, DIMENSIONS_MAX = 3, INDENT = 4 };

static const char HEAD[] =
    "// The values of the classical evaluation; values.h says what each is for. A pair is\n"
    "// for the middlegame and the endgame, in centipawns. Written by `engine tune`, which\n"
    "// learns them from games.\n"
    "// sizes: table\n"
    "// clang-format off\n"
    "#include \"eval/values.h\"\n"
    "\n"
    "#define P PAIR\n"
    "\n"
    "const EvalValues EVAL = {\n";

static int value_text(ValueKind kind, int32_t value, char out[32]) {
    if (kind == VALUE_LINEAR)
        return snprintf(out, 32, "P(%d, %d)", pair_mg(value), pair_eg(value));
    return snprintf(out, 32, "%d", value);
}

// Prints `count` values in braces from `column` on. Further lines begin below the first value.
static void print_line(FILE *out, ValueKind kind, const int32_t *values, int count, int column) {
    const int left = column + 1;
    fputc('{', out);
    column = left;
    for (int i = 0; i < count; i++) {
        char text[32];
        int length = value_text(kind, values[i], text);
        bool breaks = i > 0 && column + 2 + length + 2 > LINE_MAX_COLUMNS;
        if (breaks)
            fprintf(out, ",\n%*s", left, "");
        else if (i > 0)
            fputs(", ", out);
        fputs(text, out);
        column = breaks ? left + length : column + length + (i > 0 ? 2 : 0);
    }
    fputc('}', out);
}

// Prints an array with `dimensions`. All but the innermost have their braces on lines of their own.
static void print_array(FILE *out, ValueKind kind, const int32_t *values, const int *dimensions,
                        int depth, int column) {
    if (depth == 1) {
        print_line(out, kind, values, dimensions[0], column);
        return;
    }
    int step = 1, indent = column + INDENT;
    for (int i = 1; i < depth; i++)
        step *= dimensions[i];
    fputs("{\n", out);
    for (int i = 0; i < dimensions[0]; i++) {
        fprintf(out, "%*s", indent, "");
        print_array(out, kind, values + i * step, dimensions + 1, depth - 1, indent);
        fputs(",\n", out);
    }
    fprintf(out, "%*s}", column, "");
}

// Reads dimensions like "[6][8]" and returns how many there are.
static int read_dimensions(const char *text, int out[DIMENSIONS_MAX]) {
    int depth = 0;
    for (; *text == '[' && depth < DIMENSIONS_MAX; depth++) {
        char *end;
        out[depth] = (int)strtol(text + 1, &end, 10);
        text = end + 1;
    }
    return depth;
}

static void print_row(FILE *out, const EvalRow *row, const int32_t *values) {
    int dimensions[DIMENSIONS_MAX], depth = read_dimensions(row->dimensions, dimensions);
    int column = fprintf(out, "%*s.%s = ", INDENT, "", row->name);
    char text[32];
    if (depth == 0) {
        value_text(row->kind, *values, text);
        fputs(text, out);
    } else {
        print_array(out, row->kind, values, dimensions, depth, depth == 1 ? column : INDENT);
    }
    fputs(",\n", out);
}

void values_print(FILE *out, const EvalValues *values) {
    const int32_t *value = (const int32_t *)values;
    fputs(HEAD, out);
    for (int row = 0; row < EVAL_ROW_COUNT; value += EVAL_ROWS[row++].count)
        print_row(out, &EVAL_ROWS[row], value);
    fputs("};\n", out);
}

static bool write_all(FILE *out, const EvalValues *values) {
    values_print(out, values);
    bool good = fflush(out) == 0 && !ferror(out) && fsync(fileno(out)) == 0;
    return fclose(out) == 0 && good;
}

bool values_write(const char *path, const EvalValues *values, Refusal *err) {
    char other[4096]; // the old file must stay until the new one is complete
    snprintf(other, sizeof other, "%s.part", path);
    FILE *out = fopen(other, "w");
    if (out && write_all(out, values) && rename(other, path) == 0)
        return true;
    snprintf(err->message, sizeof err->message, "%.100s: %s", path, strerror(errno));
    if (out)
        unlink(other);
    return false;
}
