// Scales the times that a worker spends otherwise than with games, so that tests are short.
#pragma once

// `seconds` times PATCHMATE_PACING, an environment variable for tests (0.001 to 1). It scales
// pauses, time limits of requests, the time between heartbeats, and that of measuring the speed.
double pacing(double seconds);
