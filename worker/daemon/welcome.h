// Tells the volunteer before the first game what this program will do on the machine.
#pragma once

#include <stdio.h>

#include "worker/setup/worker.h"

// Prints a heading and five lines.
void welcome_print(const Worker *worker, FILE *out);
