// Simultaneous perturbation stochastic approximation (SPSA): computes the step sizes and the step.
// The caller chooses the schedule, the flips and the order of batches.
#include "sprt/sprt.h"

#include <math.h>

void spsa_init(SpsaParam *param, const SpsaSchedule *schedule) {
    double n = schedule->iterations;
    param->c = param->c_end * pow(n, schedule->gamma);
    param->a = param->r_end * param->c_end * param->c_end * pow(schedule->A + n, schedule->alpha);
}

void spsa_step_sizes(const SpsaParam *param, const SpsaSchedule *schedule, double iteration,
                     double *c_k, double *r_k) {
    double k = iteration + 1;
    *c_k = param->c / pow(k, schedule->gamma);
    *r_k = param->a / pow(schedule->A + k, schedule->alpha) / (*c_k * *c_k);
}

double spsa_update(const SpsaParam *param, double c_k, double r_k, double score, int flip) {
    double theta = param->theta + r_k * c_k * score * flip;
    return fmax(param->min, fmin(theta, param->max));
}
