// `sprt width`: a table of simulated tests of fixed width. It belongs to the program `sprt`, not to
// the library.
#pragma once

// `args`: the arguments after "width". The exit status: 0, 1 if standard output failed, 2 for a bad
// argument, which it explains on standard error.
int width_table(int count, char **args);
