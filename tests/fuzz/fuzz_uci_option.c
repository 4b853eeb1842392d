// Lines of an engine, then a NUL, then the options of a side: every list that is made of the lines
// is accepted, and options that are written read back.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "server/common/uci_option.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_lines(Str *list, const char *text, size_t size) {
    for (const char *end = text + size, *stop; text < end; text = stop + 1) {
        stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        if (!uci_list_add(list, text, (size_t)(stop - text)))
            return;
    }
}

static void check_options(const char *list, const char *text) {
    Error err;
    Str again scope(str_release);
    str_init(&again, 1 << 20);
    OptionText at = {.rest = text}, same;
    for (int i = 0; i < OPTION_COUNT_MAX && option_text_next(&at); i++) {
        size_t from = again.size;
        option_text_add(&again, at.name, at.value);
        same = (OptionText){.rest = again.data + from};
        if (!option_text_next(&same) || strcmp(same.name, at.name) != 0 ||
            strcmp(same.value, at.value) != 0)
            abort();
        if (!uci_list_fits(list, at.name, at.value, &err) && !*err.message)
            abort();
    }
    uci_list_fits_text(list, again.data, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error err;
    const char *text = (const char *)data;
    size_t lines = strnlen(text, size);
    Str list scope(str_release);
    str_init(&list, UCI_LIST_BYTES_MAX);
    add_lines(&list, text, lines);
    if (list.overflow || !uci_list_check(list.data, &err))
        abort();
    char *options scope(free_ptr) =
        lines < size ? xstrndup(text + lines + 1, size - lines - 1) : xstrdup("");
    check_options(list.data, options);
    char *raw scope(free_ptr) = xstrndup(text, lines);
    if (uci_list_check(raw, &err))
        check_options(raw, options);
    return 0;
}
