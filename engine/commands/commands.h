// The commands of the program. Each takes the arguments after its name and returns an exit status.
// UCI is not one of them.
#pragma once

// The exit status of a command with wrong arguments. The command prints the error, unless the usage
// is enough, and its caller prints the usage.
enum { COMMAND_MISUSED = 2 };

// Searches a fixed list of positions to a fixed depth. Prints the number of nodes, which is the
// signature of this search and evaluation, and the speed.
int command_bench(int argc, char **argv);
// Counts the leaves of the move tree, for each root move and in all, and prints the time.
int command_perft(int argc, char **argv);
// Reads FENs, one per line, and prints one line for each: the net's raw output, or its layers with
// --features. Without a net the line is `SCORE FEN`, with White's centipawns.
int command_eval(int argc, char **argv);
// Describes a net, or writes it in the published form.
int command_net(int argc, char **argv);
// Makes a book of openings.
int command_openings(int argc, char **argv);
// Makes a book out of numbered random walks, or prints it.
int command_walks(int argc, char **argv);
// Plays games to learn from.
int command_datagen(int argc, char **argv);
// Prints statistics or the contents of the files that datagen made.
int command_games(int argc, char **argv);
// Learns the values of the classical evaluation from games.
int command_tune(int argc, char **argv);
// Trains a net on games.
int command_train(int argc, char **argv);
// Searches the magic numbers and prints the header that contains them.
int command_magics(int argc, char **argv);

// The usage of each command: one line, then one line per option.
extern const char BENCH_USAGE[], PERFT_USAGE[], EVAL_USAGE[], NET_USAGE[], OPENINGS_USAGE[],
    WALKS_USAGE[], DATAGEN_USAGE[], GAMES_USAGE[], TUNE_USAGE[], TRAIN_USAGE[], MAGICS_USAGE[];
