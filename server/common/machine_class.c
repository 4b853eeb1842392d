// See machine_class.h.
#include "server/common/machine_class.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "server/common/str.h"

enum { NAME_MAX_BYTES = 400 };

// The words before the first one with a digit, without marks: "AMD Ryzen" of "AMD Ryzen 9 5950X",
// "Intel Core" of "Intel(R) Core(TM) i7-9700".
char *machine_family(const char *cpu) {
    Str out scope(str_release);
    str_init(&out, NAME_MAX_BYTES);
    while (*cpu) {
        size_t size = strcspn(cpu, " "), word = strcspn(cpu, " (");
        bool has_digit = false;
        for (size_t i = 0; i < word; i++)
            has_digit |= isdigit((unsigned char)cpu[i]) != 0;
        if (has_digit)
            break;
        if (word)
            str_printf(&out, "%s%.*s", out.size ? " " : "", (int)word, cpu);
        cpu += size + strspn(cpu + size, " ");
    }
    return xstrdup(out.size ? out.data : "unknown processor");
}

const char *machine_isa(const char *arch, const char *isa) {
    return *isa ? isa : *arch ? arch : "unknown instructions";
}

const char *machine_compiler(const char *compiler) {
    return *compiler ? compiler : "unknown compiler";
}

char *machine_class(const char *arch, const char *isa, const char *cpu, const char *compiler) {
    char *family scope(free_ptr) = machine_family(cpu);
    return xasprintf("%s, %s, %s", machine_isa(arch, isa), family, machine_compiler(compiler));
}
