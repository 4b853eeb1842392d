// How the machines of a test agree: each with all others, with those of its class, and the classes
// with each other. A display: nothing is excluded for it.
#pragma once

#include "server/pages/doc.h"

// `workers` as page_workers_of_test gives them. Adds `comparison` and `classes` to the test's
// document, and `residual`, `mark`, `class`, `class_residual` and `class_mark` to the workers.
void doc_add_classes(json_t *test, json_t *workers);
