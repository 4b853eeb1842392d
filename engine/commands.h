// What the program can be told on its command line besides speaking UCI. Each takes the arguments
// after the command word and returns an exit status.
#pragma once

// `bench [DEPTH]`: searches a fixed list of positions to a fixed depth and prints how many nodes
// that took, the signature of this search and evaluation, and the speed.
int command_bench(int argc, char **argv);
// `eval`: reads FENs, one a line, and prints `SCORE FEN` for each, White's view in centipawns.
int command_eval(int argc, char **argv);
// `openings`: makes a book; see openings.c for its options.
int command_openings(int argc, char **argv);
