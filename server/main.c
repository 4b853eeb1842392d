// The program `server`: a table of commands. The commands are in cli/ and start.c.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/cli/book_command.h"
#include "server/cli/cli.h"
#include "server/cli/engine_command.h"
#include "server/cli/proof_command.h"
#include "server/common/log.h"
#include "server/common/str.h"
#include "server/start.h"

static bool set_number(const char *text, long high, int *out) {
    long value;
    if (!parse_long(text, 1, high, &value))
        return false;
    *out = (int)value;
    return true;
}

static bool set_option(ServerConfig *config, int option, const char *value) {
    Error err;
    switch (option) {
    case 'l':
        config->listen = value;
        return true;
    case 't':
        return trusted_add(&config->loop.trusted, value, &err) || !command_failed(&err);
    case 'r':
        return set_number(value, 64, &config->loop.readers);
    case 'w':
        config->web = value;
        return true;
    case 'c':
        return set_number(value, 1000000, &config->loop.connections);
    case 'a':
        return set_number(value, 1000000, &config->loop.connections_per_address);
    case 'T':
        return set_number(value, 86400, &config->loop.timeout_s);
    case 'v':
        log_set_level(LOG_LEVEL_DEBUG);
        return true;
    default:
        return false;
    }
}

static int command_run(int argc, char **argv) {
    static const struct option options[] = {
        {"listen", required_argument, NULL, 'l'},
        {"trusted-proxy", required_argument, NULL, 't'},
        {"readers", required_argument, NULL, 'r'},
        {"web", required_argument, NULL, 'w'},
        {"connections", required_argument, NULL, 'c'},
        {"connections-per-address", required_argument, NULL, 'a'},
        {"timeout", required_argument, NULL, 'T'},
        {"verbose", no_argument, NULL, 'v'},
        {0},
    };
    ServerConfig config = {
        .listen = "127.0.0.1:8080",
        .loop = {
            .readers = 8, .connections = 20000, .connections_per_address = 1000, .timeout_s = 75}};
    Error err;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (!set_option(&config, c, optarg))
            return 2;
    if (optind + 1 != argc)
        return 2;
    const char *outside = getenv("PATCHMATE_OUTSIDE");
    config.outside = outside && *outside;
    config.data = argv[optind];
    return server_run(&config, &err) ? 0 : command_failed(&err);
}

// For tests that check every route. The help does not show it: it is of no use to operators.
static int command_routes(int argc, char **argv) {
    (void)argv;
    if (argc != 1)
        return 2;
    server_print_routes();
    return 0;
}

static const struct Command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage, *help;
} commands[] = {
    {"init", command_init,
     "init DATA [--admin NAME] [--admin-password-file FILE] [--engine-source DIR]\n"
     "              [--book FILE]… [--self-approval]",
     "Creates the folder DATA with a database, an administrator's account and the engine's\n"
     "    repository.\n"
     "    --admin NAME                 name of the administrator (admin)\n"
     "    --admin-password-file FILE   the first line of FILE is the password (\"-\": of standard\n"
     "                                 input); otherwise a password is made and printed\n"
     "    --engine-source DIR          source of the engine (the one installed with this program)\n"
     "    --book FILE                  book of openings, EPD or PGN; may be repeated (the book\n"
     "                                 installed with this program)\n"
     "    --self-approval              authors may approve their own tests: for one person alone"},
    {"run", command_run,
     "run DATA [--listen ADDRESS:PORT] [--trusted-proxy ADDRESS]… [--readers N] [--web DIR]\n"
     "             [--connections N] [--connections-per-address N] [--timeout SECONDS] [--verbose]",
     "Serves DATA until SIGTERM or SIGINT. Prints \"listening on URL\" when it is ready.\n"
     "    --listen ADDRESS:PORT        where to listen (127.0.0.1:8080); port 0: any free port\n"
     "    --trusted-proxy ADDRESS      a proxy whose X-Forwarded-For and -Proto are trusted;\n"
     "                                 says that strangers can reach this server, too\n"
     "    --readers N                  threads for pages, uploads and git (8); one account or\n"
     "                                 address uses at most a quarter of them\n"
     "    --web DIR                    templates and static files (those of this program)\n"
     "    --connections N              open connections (20000)\n"
     "    --connections-per-address N  open connections of an address; behind a proxy, its open\n"
     "                                 requests (1000)\n"
     "    --timeout SECONDS            until an idle connection is closed (75)\n"
     "    --verbose                    log more\n"
     "    PATCHMATE_OUTSIDE=1          in the environment: strangers can reach this server, "
     "although\n"
     "                                 its requests do not show it (a container, a relay). They "
     "do\n"
     "                                 not count as machines at home then: see deploy/README.md"},
    {"user", command_user,
     "user add|password DATA NAME [--password-file FILE]\n"
     "  server user role DATA NAME ENGINE developer|maintainer\n"
     "  server user role DATA NAME admin\n"
     "  server user state DATA NAME active|pending|blocked\n"
     "  server user list DATA",
     "Manages accounts, also while the server runs. The first line of FILE is the password\n"
     "    (\"-\": of standard input); otherwise a password is made and printed. A '-' before a\n"
     "    role takes the role away: `server user role -- DATA NAME -admin`."},
    {"set", command_set, "set DATA [NAME VALUE]",
     "Lists the settings with their values and defaults, or changes one. A running server sees\n"
     "    the change at once."},
    {"engine", command_engine,
     "engine list|import|export|fetch|baseline|nets|reference|margin|bench DATA …",
     "Manages the engine's repository: its commits, its baseline, and where commits name their\n"
     "    nets. `server engine` explains each of these commands."},
    {"book", command_book,
     "book add DATA ENGINE NAME FILE [standard|chess960]\n"
     "  server book make DATA [ENGINE [NAME]]\n"
     "  server book list DATA",
     "Manages books of openings, also while the server runs.\n"
     "    add   from FILE: EPD or PGN, also packed by gzip or as the only file of a zip; or a\n"
     "          file of walks. A refusal names the line. With a variant, an opening of the other\n"
     "          one is refused\n"
     "    make  the book of 250,000 openings that this program brings, in seconds and without a\n"
     "          search; without --book, `init` has done it"},
    {"backup", command_backup, "backup DATA FILE",
     "Writes database, repositories and blobs into one tar file, also while the server runs."},
    {"check", command_check, "check DATA",
     "Checks the database. Counts the logged batches of every test again and compares totals and\n"
     "    verdicts. Compares the games in the archive with the batches, and names the tests whose\n"
     "    games were dropped. Prints each difference."},
    {"bundle", command_bundle, "bundle DATA TEST [FILE]",
     "Writes one file (test-TEST.tar) with all that a stranger needs to check the result of a\n"
     "    test: its log with the machines' signatures, its games and its openings. Also while the\n"
     "    server runs."},
    {"verify", command_verify, "verify FILE",
     "Checks a bundle, without an installation and without a network: signatures, games,\n"
     "    counts, order and verdict. Prints each difference, and whose games had to be believed.\n"
     "    Ends with 1 if something does not hold."},
    {"replay", command_replay, "replay DATA TEST",
     "Makes the same checks of a test of this installation: replays its games and counts it\n"
     "    again. Repairs nothing."},
    {"routes", command_routes, "routes", NULL},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_command(FILE *out, const struct Command *command) {
    fprintf(out, "  server %s\n    %s\n\n", command->usage, command->help ? command->help : "");
}

static int usage(FILE *out, int status) {
    fprintf(out, "Patchmate's server. Its commands (defaults in parentheses):\n\n");
    for (int i = 0; i < COMMANDS; i++)
        if (commands[i].help)
            print_command(out, &commands[i]);
    return status;
}

int main(int argc, char **argv) {
    umask(077); // databases and their copies contain hashes of passwords, and addresses
    if (argc < 2)
        return usage(stderr, 2);
    if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help"))
        return usage(stdout, 0);
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(commands[i].name, argv[1])) {
            int status = commands[i].run(argc - 1, argv + 1);
            if (status == 2)
                print_command(stderr, &commands[i]);
            return status;
        }
    fprintf(stderr, "server: there is no command %s\n\n", argv[1]);
    return usage(stderr, 2);
}
