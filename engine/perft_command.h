// `engine perft N [FEN]`: counts the leaves of the move tree, by root move and in all, with the
// time it took. Arguments after the command word; returns an exit status.
#pragma once

int command_perft(int argc, char **argv);
