// See check.h: what each step of a check says.
#include "server/proof/check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "server/common/visible.h"

enum { SHOWN_OF_STEP = 5 };

void check_wrong(Check *check, const char *format, ...) {
    va_list args;
    check->all_wrong++;
    if (++check->wrong > SHOWN_OF_STEP)
        return;
    fprintf(check->out, "WRONG  %s: ", check->step);
    va_start(args, format);
    vfprintf(check->out, format, args);
    va_end(args);
    fputc('\n', check->out);
}

void check_end(Check *check, const char *format, ...) {
    va_list args;
    if (check->wrong > SHOWN_OF_STEP)
        fprintf(check->out, "WRONG  %s: and %" PRId64 " further differences\n", check->step,
                check->wrong - SHOWN_OF_STEP);
    if (!check->wrong) {
        fprintf(check->out, "holds  %s: ", check->step);
        va_start(args, format);
        vfprintf(check->out, format, args);
        va_end(args);
        fputc('\n', check->out);
    }
    check->wrong = 0;
}

char *check_shown(const char *text) {
    size_t size = strlen(text);
    char *out = xmalloc(4 * size + 64);
    visible_copy(out, 4 * size + 64, text, size, false);
    return out;
}
