// What a volunteer is told before the first game: what this program will do on their machine.
#pragma once

#include <stdio.h>

#include "worker/setup/worker.h"

// Five lines below a heading.
void welcome_print(const Worker *worker, FILE *out);
