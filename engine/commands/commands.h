// The commands of the program, apart from speaking UCI. Each takes the arguments after its name and
// returns an exit status.
#pragma once

// The exit status of a command that was given words it cannot use: it says which where that is not
// plain, and its caller prints the usage.
enum { COMMAND_MISUSED = 2 };

// Searches a fixed list of positions to a fixed depth and prints how many nodes that took, the
// signature of this search and evaluation, and the speed.
int command_bench(int argc, char **argv);
// Counts the leaves of the move tree, by root move and in all, with the time it took.
int command_perft(int argc, char **argv);
// Reads FENs, one a line, and prints a line for each: the net's raw output, or with --features its
// layers; without a net `SCORE FEN`, White's centipawns.
int command_eval(int argc, char **argv);
// What a net is; writes it in the published form.
int command_net(int argc, char **argv);
// Makes a book.
int command_openings(int argc, char **argv);
// Plays games to learn from.
int command_datagen(int argc, char **argv);
// What is in the files that datagen made.
int command_games(int argc, char **argv);
// Learns the values of the classical evaluation from games.
int command_tune(int argc, char **argv);
// Makes a net from games.
int command_train(int argc, char **argv);
// Searches the magic numbers and prints the header they stand in.
int command_magics(int argc, char **argv);

// How each is used: a line, with options a line each.
extern const char BENCH_USAGE[], PERFT_USAGE[], EVAL_USAGE[], NET_USAGE[], OPENINGS_USAGE[],
    DATAGEN_USAGE[], GAMES_USAGE[], TUNE_USAGE[], TRAIN_USAGE[], MAGICS_USAGE[];
