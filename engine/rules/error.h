// The reason why input was refused or an operation failed, as a message for a person. It names the
// input and the place of the fault. The parts of the engine and the programs that link to them use
// this type.
#pragma once

#include <stdbool.h>

typedef struct Refusal {
    char message[320];
} Refusal;

// Fills `err`, if there is one, as printf does and returns false.
__attribute__((format(printf, 2, 3))) bool refused(Refusal *err, const char *format, ...);
