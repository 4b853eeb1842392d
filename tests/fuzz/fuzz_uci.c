// Any bytes as lines of UCI. Lines that would think are only read, and options that would take
// gigabytes are left out: what is tested is that no line can harm the engine.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/words.h"
#include "engine/rules/position.h"
#include "engine/uci/go.h"
#include "engine/uci/uci.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Uci *uci;
static Position start;

static void setup(void) {
    Refusal err;
    uci = uci_new(fopen("/dev/null", "w"));
    if (!position_from_fen(&start, POSITION_START_FEN, false, &err))
        abort();
}

static void feed(const char *line) {
    const char *rest = line, *bad = line;
    Word word = word_next(&rest);
    if (word_is(word, "go")) {
        SearchLimits limits = {0};
        if (!uci_parse_go(rest, &start, &limits, &bad) && (bad < line || bad > line + strlen(line)))
            abort();
    } else if (!strcasestr(line, "hash") && !strcasestr(line, "threads") &&
               !strcasestr(line, "evalfile") && !word_is(word, "ucinewgame")) {
        uci_line(uci, line);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!uci)
        setup();
    if (size > UCI_LINE_MAX)
        return 0;
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *line = text, *end; line; line = end ? end + 1 : NULL) {
        end = strchr(line, '\n');
        if (end)
            *end = '\0';
        feed(line);
    }
    free(text);
    return 0;
}
