// Scales all waiting times for the server, so that tests of outages are short.
#pragma once

// `seconds` times PATCHMATE_PACING, an environment variable for tests (0.001 to 1). It scales
// pauses, time limits of requests, and the time between heartbeats.
double pacing(double seconds);
