// The program. Without arguments it speaks UCI; otherwise the first argument is the name of a
// command.
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "uci/uci.h"

typedef struct Subcommand {
    const char *name, *purpose, *usage;
    int (*run)(int argc, char **argv);
} Subcommand;

static const Subcommand SUBCOMMANDS[] = {
    {"bench", "counts the nodes of a fixed search and measures its speed", BENCH_USAGE,
     command_bench},
    {"perft", "counts the leaves of the move tree", PERFT_USAGE, command_perft},
    {"eval", "evaluates the positions on standard input", EVAL_USAGE, command_eval},
    {"net", "describes a net, or writes it in the published form", NET_USAGE, command_net},
    {"openings", "makes a book of random openings, as EPD", OPENINGS_USAGE, command_openings},
    {"walks", "makes a book out of numbered random walks", WALKS_USAGE, command_walks},
    {"datagen", "plays games of the engine against itself", DATAGEN_USAGE, command_datagen},
    {"games", "checks or prints the games of datagen, or their totals", GAMES_USAGE, command_games},
    {"tune", "learns the values of the classical evaluation from games", TUNE_USAGE, command_tune},
    {"train", "trains a net on games of datagen", TRAIN_USAGE, command_train},
    {"magics", "searches the magic numbers and prints their table", MAGICS_USAGE, command_magics},
};
enum { SUBCOMMAND_COUNT = sizeof SUBCOMMANDS / sizeof *SUBCOMMANDS };

static const Subcommand *command_find(const char *name) {
    for (int i = 0; i < SUBCOMMAND_COUNT; i++)
        if (strcmp(name, SUBCOMMANDS[i].name) == 0)
            return &SUBCOMMANDS[i];
    return NULL;
}

static bool asks_for_help(const char *word) {
    return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static void print_commands(void) {
    puts("Without arguments the engine speaks UCI. COMMAND --help explains a command:");
    for (int i = 0; i < SUBCOMMAND_COUNT; i++)
        printf("  %-10s%s\n", SUBCOMMANDS[i].name, SUBCOMMANDS[i].purpose);
}

static int command_run(const Subcommand *command, int argc, char **argv) {
    if (argc > 0 && asks_for_help(argv[0])) {
        fputs(command->usage, stdout);
        return 0;
    }
    int status = command->run(argc, argv);
    if (status == COMMAND_MISUSED)
        fputs(command->usage, stderr);
    return status;
}

static int speak_uci(void) {
    static char buffer[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    Uci *uci = uci_new(stdout);
    uci_loop(uci, stdin);
    uci_free(uci);
    return 0;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return speak_uci();
    const Subcommand *command = command_find(argv[1]);
    if (command)
        return command_run(command, argc - 2, argv + 2);
    if (asks_for_help(argv[1])) {
        print_commands();
        return 0;
    }
    fprintf(stderr, "anvil: there is no command %s; help lists all commands\n", argv[1]);
    return 2;
}
