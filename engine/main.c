// Anvil's front door: without arguments it speaks UCI, otherwise the first one names a command.
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "magic_search.h"
#include "perft_command.h"
#include "uci.h"

static int command_help(int argc, char **argv);

static const struct {
    const char *name, *help;
    int (*run)(int argc, char **argv);
} COMMANDS[] = {
    {"bench", "bench [--net N] [DEPTH]  node count and speed over fixed positions", command_bench},
    {"perft", "perft DEPTH [FEN]        leaves of the move tree", command_perft},
    {"eval", "eval [--net N] …         static scores of the FENs on standard input", command_eval},
    {"net", "net FILE …               what a net is; writes it in the published form", command_net},
    {"openings", "openings --count N …     a book of random openings, as EPD", command_openings},
    {"datagen", "datagen --out DIR --games N …  games of self-play to learn from", command_datagen},
    {"games", "games [--pgn] FILE …     statistics, check or text of such games", command_games},
    {"tune", "tune --data DIR… --out FILE   learn the evaluation's values from games",
     command_tune},
    {"train", "train --data DIR …         a net from games of self-play", command_train},
    {"magics", "magics                   search the magic numbers and print their table",
     command_magics},
    {"help", "help                     this list", command_help},
};
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof *COMMANDS };

static int command_help(int argc, char **argv) {
    (void)argc, (void)argv;
    puts("Without arguments the engine speaks UCI. Commands:");
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("  %s\n", COMMANDS[i].help);
    return 0;
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
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(argv[1], COMMANDS[i].name) == 0)
            return COMMANDS[i].run(argc - 2, argv + 2);
    fprintf(stderr, "anvil: there is no command %s; try help\n", argv[1]);
    return 2;
}
