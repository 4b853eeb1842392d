// The server's program: a table of commands. What they do is in cli/ and start.c.
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "server/cli/cli.h"
#include "server/cli/engine_command.h"
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
    config.data = argv[optind];
    return server_run(&config, &err) ? 0 : command_failed(&err);
}

// For tests that walk the table of routes: help does not show it, because it says nothing about an installation.
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
     "            [--book FILE]… [--self-approval]",
     "Makes the folder DATA with a database, an admin account and the engine's repository.\n"
     "    Without a password file (\"-\" is standard input) a password is made and printed.\n"
     "    Books of openings: those that came with the program, or the files named.\n"
     "    --self-approval lets authors approve their own tests: for one-person installations."},
    {"run", command_run,
     "run DATA [--listen ADDRESS:PORT] [--trusted-proxy ADDRESS]… [--readers N] [--web DIR]\n"
     "           [--connections N] [--connections-per-address N] [--timeout SECONDS] [--verbose]",
     "Serves DATA until SIGTERM or SIGINT. Prints \"listening on URL\" when ready; port 0 takes a\n"
     "    free one. From a trusted proxy, X-Forwarded-For and X-Forwarded-Proto are believed.\n"
     "    --connections-per-address also bounds the requests that an address has open behind a "
     "proxy.\n"
     "    --readers: threads for pages, uploads and git (8); one account or address has a "
     "quarter."},
    {"user", command_user,
     "user add|password DATA NAME [--password-file FILE]\n"
     "  server user role DATA NAME ENGINE [-]developer|[-]maintainer\n"
     "  server user role DATA NAME [-]admin      (after -- where the role begins with '-')\n"
     "  server user state DATA NAME active|pending|blocked\n"
     "  server user list DATA",
     "Accounts, also while the server runs."},
    {"set", command_set, "set DATA [NAME VALUE]",
     "Shows the operator's settings, or changes one; a running server sees it at once."},
    {"engine", command_engine, "engine import|export|fetch|nets …",
     "Moves commits between an engine's repository and a tree or another repository; says where\n"
     "    commits name their nets. `server engine` lists it all."},
    {"book", command_book, "book DATA ENGINE NAME FILE",
     "Adds a book of openings (EPD or PGN) to an engine, also while the server runs."},
    {"backup", command_backup, "backup DATA FILE",
     "Writes database, repositories and blobs as one tar file, also while the server runs."},
    {"check", command_check, "check DATA",
     "Checks the database, and that replaying all results gives the totals and verdicts it holds."},
    {"routes", command_routes, "routes", NULL},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_command(FILE *out, const struct Command *command) {
    fprintf(out, "  server %s\n    %s\n\n", command->usage, command->help ? command->help : "");
}

static int usage(FILE *out, int status) {
    fprintf(out, "Patchmate's server. Commands:\n\n");
    for (int i = 0; i < COMMANDS; i++)
        if (commands[i].help)
            print_command(out, &commands[i]);
    return status;
}

int main(int argc, char **argv) {
    umask(077); // databases hold passwords' hashes and addresses, also while they are copied
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
