// See config.h. One table holds every option with its kind, bounds and help.
#include "config.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../server/common/str.h"

typedef enum { OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER } OptionKind;

typedef struct Option {
    const char *name, *argument, *help;
    OptionKind kind;
    size_t offset;
    long low, high;
} Option;

#define FLAG(text, member, help)                                                                   \
    { text, NULL, help, OPTION_FLAG, offsetof(Config, member), 0, 0 }
#define TEXT(text, argument, member, help)                                                         \
    { text, argument, help, OPTION_TEXT, offsetof(Config, member), 0, 0 }
#define NUMBER(text, argument, member, low, high, help)                                            \
    { text, argument, help, OPTION_NUMBER, offsetof(Config, member), low, high }

static const Option options[] = {
    TEXT("--server", "URL", server, "the server to work for, for instance https://chess.example"),
    NUMBER("--concurrency", "N", concurrency, 1, 4096, "CPUs for games (physical cores less one)"),
    TEXT("--name", "NAME", name, "this machine's name on the server's pages (host name)"),
    TEXT("--token", "TOKEN", token, "count the games for the user whose token this is"),
    TEXT("--cache", "DIR", cache, "where to keep identity, builds and unsent results"),
    NUMBER("--memory", "MIB", memory_mib, 64, 1 << 24, "memory to offer (nearly all)"),
    FLAG("--no-sandbox", no_sandbox, "run engines unconfined where bubblewrap does not work"),
    FLAG("--once", once, "leave after one task"),
    FLAG("--fleet", fleet, "leave when there is no work"),
    NUMBER("--nice", "N", nice, 0, 19, "run at this niceness"),
    FLAG("--verbose", verbose, "log more"),
};
enum { OPTION_COUNT = sizeof options / sizeof *options };

void config_print_help(void) {
    puts("worker plays test games for a Patchmate server.\n\n  worker --server URL\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        char left[64];
        const char *argument = options[i].argument;
        snprintf(left, sizeof left, "%s %s", options[i].name, argument ? argument : "");
        printf("  %-18s %s\n", left, options[i].help);
    }
    puts("  --version          print the version\n  --help             print this\n\n"
         "Ctrl-C once ends the running games, hands the rest back and leaves; twice leaves now.");
}

static bool set_option(Config *config, const Option *option, const char *value, Error *err) {
    void *member = (char *)config + option->offset;
    if (option->kind == OPTION_FLAG) {
        *(bool *)member = true;
    } else if (option->kind == OPTION_TEXT) {
        free(*(char **)member);
        *(char **)member = xstrdup(value);
    } else {
        long number;
        if (!parse_long(value, option->low, option->high, &number))
            return error_set(err, 0, "bad_option", "%s takes a number from %ld to %ld, not '%s'",
                             option->name, option->low, option->high, value);
        *(int *)member = (int)number;
    }
    return true;
}

static const Option *find_option(const char *name, size_t size) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strlen(options[i].name) == size && memcmp(options[i].name, name, size) == 0)
            return &options[i];
    return NULL;
}

// Reads argv[*i], "--name value" or "--name=value", and moves *i over what it used.
static bool read_option(Config *config, int argc, char **argv, int *i, Error *err) {
    const char *text = argv[*i];
    size_t size = strcspn(text, "=");
    const Option *option = find_option(text, size);
    const char *value = text[size] ? text + size + 1 : NULL;
    if (!option)
        return error_set(err, 0, "bad_option", "there is no option %s; --help lists them", text);
    if (option->kind != OPTION_FLAG && !value && *i + 1 < argc)
        value = argv[++*i];
    if ((option->kind == OPTION_FLAG) != !value)
        return error_set(err, 0, "bad_option", "%s %s", option->name,
                         value ? "takes no value" : "needs a value");
    return set_option(config, option, value, err);
}

static bool check_server(Config *config, Error *err) {
    if (!config->server)
        return error_set(err, 0, "bad_option", "--server URL is needed: which server to work for");
    if (strncmp(config->server, "http://", 7) != 0 && strncmp(config->server, "https://", 8) != 0)
        return error_set(err, 0, "bad_option", "--server takes a http:// or https:// URL, not '%s'",
                         config->server);
    for (size_t n = strlen(config->server); config->server[n - 1] == '/'; n--)
        config->server[n - 1] = 0;
    return true;
}

static char *default_name(void) {
    char host[65] = "";
    if (gethostname(host, sizeof host - 1) < 0 || !*host)
        return xstrdup("worker");
    return xstrdup(host);
}

static char *default_cache(void) {
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
    if (data && *data == '/')
        return xasprintf("%s/patchmate", data);
    return xasprintf("%s/.local/share/patchmate", home && *home == '/' ? home : "/var/tmp");
}

// The server takes 1 to 64 printable characters.
static bool check_name(const char *name, Error *err) {
    size_t size = strlen(name);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)name[i] < 32 || name[i] == 127)
            size = 0;
    return (size >= 1 && size <= 64) ||
           error_set(err, 0, "bad_option", "--name takes 1 to 64 printable characters");
}

bool config_read(Config *config, ConfigAction *action, int argc, char **argv, Error *err) {
    *config = (Config){0};
    *action = CONFIG_RUN;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "--version") == 0) {
            *action = argv[i][2] == 'h' ? CONFIG_HELP : CONFIG_VERSION;
            return true;
        }
        if (!read_option(config, argc, argv, &i, err))
            return false;
    }
    if (!check_server(config, err))
        return false;
    if (!config->name)
        config->name = default_name();
    if (!config->cache)
        config->cache = default_cache();
    return check_name(config->name, err);
}

void config_release(Config *config) {
    free(config->server);
    free(config->name);
    free(config->token);
    free(config->cache);
    *config = (Config){0};
}
