// What the program can be told on its command line besides speaking UCI. Each takes the arguments
// after the command word and returns an exit status.
#pragma once

// `bench [--net FILE|none] [DEPTH]`: searches a fixed list of positions to a fixed depth and prints
// how many nodes that took, the signature of this search and evaluation, and the speed.
int command_bench(int argc, char **argv);
// `eval [--net FILE|none] [--features]`: reads FENs, one a line, and prints a line for each: the
// net's raw output, or with --features its layers; without a net `SCORE FEN`, White's centipawns.
int command_eval(int argc, char **argv);
// `net FILE [--published OUT]`: what a net is; writes it in the published form.
int command_net(int argc, char **argv);
// `openings`: makes a book; see openings.c for its options.
int command_openings(int argc, char **argv);
// `datagen`: plays games to learn from; see learn/datagen.c for its options.
int command_datagen(int argc, char **argv);
// `games [--pgn | --check] FILE …`: what is in the files that datagen made.
int command_games(int argc, char **argv);
// `tune`: learns the values of the classical evaluation from games; see learn/tune_command.c.
int command_tune(int argc, char **argv);
// `train`: makes a net from game files; see learn/train_command.c for its options.
int command_train(int argc, char **argv);
