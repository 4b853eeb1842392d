// The statistics of a test as one JSON document, for pages and the API. Numbers are given raw; how
// many digits people see is decided where pages are made. Pure: no database, no clock.
#pragma once

#include <jansson.h>

// `test` is a row of `tests` (SELECT *). `games_per_hour`: what its workers make now, 0 if that is
// unknown. The members are those of its workload (server/ledger/workload.h, server/API.md), and for
// every workload `units`, `label`, `terms`, `summary`, `points`, `panel` (the template of its part
// of the page), and `color`: "green", "red", "yellow", "blue" or "". New.
json_t *statistics_document(const json_t *test, double games_per_hour);
