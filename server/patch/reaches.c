// See reaches.h.
#include "server/patch/reaches.h"

#include <ctype.h>
#include <string.h>

// Called with a parenthesis.
static const char *const functions[] = {
    "system",   "popen",   "fork",   "vfork",         "execl",       "execle",       "execlp",
    "execv",    "execve",  "execvp", "execvpe",       "posix_spawn", "posix_spawnp", "socket",
    "connect",  "syscall", "ptrace", "getaddrinfo",   "dlopen",      "LoadLibrary",  "kill",
    "mprotect", "getenv",  "setenv", "secure_getenv", "open",        "openat",       "creat",
    "fopen",    "freopen", "unlink", "opendir",       "mkfifo",      "symlink",      "asm",
    "__asm",    "__asm__"};
// What a compiler reads or runs by itself.
static const char *const anywhere[] = {
    ".incbin",      "#embed",         "__attribute__((constructor",
    "#include \"/", "#include </",    "ifstream",
    "ofstream",     "std::filesystem"};

static bool is_word(int c) {
    return isalnum(c) || c == '_';
}

static bool calls(const char *line, size_t size, const char *name) {
    size_t length = strlen(name);
    const char *end = line + size;
    for (const char *at = line; (at = memmem(at, (size_t)(end - at), name, length)); at++) {
        const char *after = at + length;
        if (at > line && is_word((unsigned char)at[-1]))
            continue;
        while (after < end && (*after == ' ' || *after == '\t'))
            after++;
        if (after < end && *after == '(')
            return true;
    }
    return false;
}

bool line_reaches_out(const char *line, size_t size) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (calls(line, size, functions[i]))
            return true;
    for (size_t i = 0; i < sizeof anywhere / sizeof *anywhere; i++)
        if (memmem(line, size, anywhere[i], strlen(anywhere[i])))
            return true;
    return false;
}
