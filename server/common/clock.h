// The two clocks of the system, in seconds.
#pragma once

double time_now(void);       // Unix time
double time_monotonic(void); // for intervals; starts anywhere and never goes back
