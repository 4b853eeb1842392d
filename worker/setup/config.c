// See config.h. One table holds every option with its kind, bounds and help.
#include "worker/setup/config.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/log.h"
#include "server/common/str.h"
#include "server/common/visible.h"

enum { TOKEN_MAX_BYTES = 4096 };

typedef enum { OPTION_FLAG, OPTION_TEXT, OPTION_NUMBER } OptionKind;

typedef struct ConfigOption {
    const char *name, *argument, *help;
    OptionKind kind;
    size_t offset;
    long low, high;
} ConfigOption;

#define FLAG(text, member, help)                                                                   \
    { text, NULL, help, OPTION_FLAG, offsetof(Config, member), 0, 0 }
#define TEXT(text, argument, member, help)                                                         \
    { text, argument, help, OPTION_TEXT, offsetof(Config, member), 0, 0 }
#define NUMBER(text, argument, member, low, high, help)                                            \
    { text, argument, help, OPTION_NUMBER, offsetof(Config, member), low, high }

static const ConfigOption options[] = {
    TEXT("--server", "URL", server, "the server to work for, for instance https://chess.example"),
    NUMBER("--concurrency", "N", concurrency, 1, 4096,
           "CPUs for games (default: physical cores less one, and no\n"
           "more than a CPU quota allows; CPUs of other workers on\n"
           "this machine are not used)"),
    NUMBER("--memory", "MIB", memory_mib, 64, 1 << 24,
           "memory for games (default: 90 % of the machine's, or of\n"
           "its control group's; a test with a large Hash then plays\n"
           "fewer games at a time, or is not taken)"),
    NUMBER("--nice", "N", nice, 0, 19, "run at this niceness (default 0)"),
    TEXT("--cache", "DIR", cache,
         "folder for identity, builds and unsent results (default:\n"
         "$XDG_DATA_HOME/patchmate, or ~/.local/share/patchmate;\n"
         "started by root, the worker becomes another user and takes\n"
         "/var/lib/patchmate-worker); several workers may share it"),
    NUMBER("--cache-size", "MIB", cache_mib, 16, 1 << 24,
           "limit of builds and downloads in that folder; the least\n"
           "recently used are removed first (default 4096)"),
    TEXT("--name", "NAME", name,
         "name of this machine on the server's pages (default: host\n"
         "name)"),
    TEXT("--token-file", "FILE", token_file,
         "count the games for the user whose token is in this file;\n"
         "only you should be able to read it (default: the token in\n"
         "the environment's PATCHMATE_TOKEN)"),
    TEXT("--token", "TOKEN", token,
         "the token itself, for tests only: all users of this\n"
         "machine can see it in the list of processes"),
    FLAG("--once", once, "stop after one task"),
    FLAG("--fleet", fleet, "stop when there is no work"),
    FLAG("--no-sandbox", no_sandbox,
         "run engines without a sandbox if none works here; only for\n"
         "a machine that holds nothing of value"),
    NUMBER("--sandbox", "LEVEL", sandbox_max, 0, 2,
           "use no higher sandbox level: 2 bubblewrap, 1 Landlock, 0\n"
           "none (default 2: the best that works here)"),
    NUMBER("--build-time", "S", build_s, 1, 86400,
           "time limit of a build or a bench in seconds (default 600)"),
    FLAG("--self-test", self_test,
         "test this machine, in half a minute and without a server:\n"
         "compiler, sandbox, a match, engines that misbehave"),
    FLAG("--verbose", verbose, "log more"),
};
enum { OPTION_COUNT = sizeof options / sizeof *options };

// Prints the help text with all its lines equally indented.
static void print_option(const char *name, const char *argument, const char *help) {
    char left[64];
    snprintf(left, sizeof left, "%s %s", name, argument ? argument : "");
    printf("  %-18s ", left);
    for (; *help; help += *help == '\n') {
        int size = (int)strcspn(help, "\n");
        printf("%.*s\n", size, help);
        help += size;
        if (*help)
            printf("%21s", "");
    }
}

void config_print_help(void) {
    puts("worker builds chess engines and plays games between them for a Patchmate server.\n\n"
         "  worker --server URL      work until Ctrl-C\n"
         "  worker --self-test       check that this machine can take part\n");
    for (int i = 0; i < OPTION_COUNT; i++)
        print_option(options[i].name, options[i].argument, options[i].help);
    print_option("--version", NULL, "print the version");
    print_option("--help", NULL, "print this help");
    puts("\nCtrl-C once: the running batch of games finishes, the rest of the task is returned,\n"
         "and the worker stops. Ctrl-C twice: it stops immediately.\n"
         "Exit status: 0 after a normal stop, 1 if it cannot work (the last line says\n"
         "why), 2 for a wrong command line, 130 after an immediate stop.");
}

static bool set_option(Config *config, const ConfigOption *option, const char *value, Error *err) {
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

static const ConfigOption *find_option(const char *name, size_t size) {
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strlen(options[i].name) == size && memcmp(options[i].name, name, size) == 0)
            return &options[i];
    return NULL;
}

// Reads argv[*i], "--name value" or "--name=value", and moves *i over what it used.
static bool read_option(Config *config, int argc, char **argv, int *i, Error *err) {
    const char *text = argv[*i];
    size_t size = strcspn(text, "=");
    const ConfigOption *option = find_option(text, size);
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
        return error_set(
            err, 0, "bad_option",
            "--server URL is missing: the server to work for; --help lists all options");
    size_t scheme = strncmp(config->server, "http://", 7) == 0    ? 7
                    : strncmp(config->server, "https://", 8) == 0 ? 8
                                                                  : 0;
    const char *host = config->server + scheme;
    if (!scheme || (!isalnum((unsigned char)*host) && *host != '[') ||
        strcspn(host, " \t\r\n\"<>?#") != strlen(host))
        return error_set(err, 0, "bad_option",
                         "--server takes a http:// or https:// URL as a browser shows it, not '%s'",
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
    if (geteuid() == 0)
        return xstrdup("/var/lib/patchmate-worker"); // it becomes another user: os/user.h
    if (data && *data == '/')
        return xasprintf("%s/patchmate", data);
    return xasprintf("%s/.local/share/patchmate", home && *home == '/' ? home : "/var/tmp");
}

// The worker may leave its working folder.
static char *absolute(char *path) {
    char *here = *path == '/' ? NULL : getcwd(NULL, 0);
    if (!here)
        return path;
    char *whole = xasprintf("%s/%s", here, path);
    free(here);
    free(path);
    return whole;
}

// The server accepts names of 1 to 64 bytes without invisible characters.
static bool check_name(const char *name, Error *err) {
    char shown[80];
    size_t size = strlen(name);
    visible_copy(shown, sizeof shown, name, size, false);
    return (size >= 1 && size <= 64 && strcmp(shown, name) == 0) ||
           error_set(err, 0, "bad_option", "--name takes 1 to 64 bytes of printable characters");
}

// ---- the token ----------------------------------------------------------------------------------

// Called before the worker becomes another user, who may not be able to read the file.
static bool read_token_file(Config *config, Error *err) {
    struct stat st;
    char *text scope(free_ptr) = file_read(config->token_file, TOKEN_MAX_BYTES, NULL, err);
    if (!text)
        return error_prefix(err, "--token-file");
    const char *from = text + strspn(text, " \t\r\n");
    size_t size = strcspn(from, " \t\r\n");
    if (!size || from[size + strspn(from + size, " \t\r\n")])
        return error_set(err, 0, "bad_option",
                         "--token-file: %s contains no token; it must contain one word",
                         config->token_file);
    config->token = xstrndup(from, size);
    if (stat(config->token_file, &st) == 0 && (st.st_mode & 077))
        log_warn("other users of this machine can read or change %s: chmod 600 prevents it",
                 config->token_file);
    return true;
}

// Programs that the worker starts must not find the token, in their environment or in the worker's.
static bool find_token(Config *config, Error *err) {
    char *variable = getenv("PATCHMATE_TOKEN");
    if (config->token && config->token_file)
        return error_set(err, 0, "bad_option", "give --token or --token-file, not both");
    if (config->token_file && !read_token_file(config, err))
        return false;
    if (!config->token && variable && *variable)
        config->token = xstrdup(variable);
    if (variable)
        memset(variable, 0, strlen(variable)); // the system shows it in /proc
    unsetenv("PATCHMATE_TOKEN");
    return true;
}

bool config_read(Config *config, ConfigAction *action, int argc, char **argv, Error *err) {
    *config = (Config){.cache_mib = CACHE_MIB, .sandbox_max = 2};
    *action = CONFIG_RUN;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "--version") == 0) {
            *action = argv[i][2] == 'h' ? CONFIG_HELP : CONFIG_VERSION;
            return true;
        }
        if (!read_option(config, argc, argv, &i, err))
            return false;
    }
    if (config->self_test)
        *action = CONFIG_SELF_TEST;
    else if (!check_server(config, err))
        return false;
    if (!config->name)
        config->name = default_name();
    config->cache = config->cache ? absolute(config->cache) : default_cache();
    return check_name(config->name, err) && find_token(config, err);
}

void config_release(Config *config) {
    free(config->server);
    free(config->name);
    free(config->token);
    free(config->token_file);
    free(config->cache);
    *config = (Config){0};
}
