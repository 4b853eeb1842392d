// The normal distribution, accurate in both tails. Internal to libsprt.
#pragma once

double normal_cdf(double z);
double normal_quantile(double p); // ±inf at 0 and 1
// The z > 0 whose upper tail is exp(-h), for h >= ln 2. It is exact even if exp(-h) underflows.
double normal_upper_quantile_log(double h);
