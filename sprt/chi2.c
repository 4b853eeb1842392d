// Whether the workers of a test report results of the same distribution: Pearson's chi-squared test
// on the table of workers by pair outcomes, and the residual of each worker as a normal deviate.
#include "sprt/normal.h"
#include "sprt/sprt.h"

#include <math.h>
#include <string.h>

static const double EXPECTED_MIN = 5; // a row with an expected count of this or less is dropped
static const double ROW_DROPPED = NAN;

typedef struct OutcomeTable {
    int rows;
    double columns[3];
    double total;
} OutcomeTable;

static double row_total(const double row[3]) {
    return row[0] + row[1] + row[2];
}

static OutcomeTable table_sum(const double (*rows)[3], int row_count, const double *residuals) {
    OutcomeTable table = {0};
    for (int r = 0; r < row_count; r++) {
        if (isnan(residuals[r]))
            continue;
        table.rows++;
        table.total += row_total(rows[r]);
        for (int c = 0; c < 3; c++)
            table.columns[c] += rows[r][c];
    }
    return table;
}

// Drops the rows that are too small for the current table. Returns whether there were any.
static bool table_prune(const OutcomeTable *table, const double (*rows)[3], int row_count,
                        double *residuals) {
    double rarest = fmin(table->columns[0], fmin(table->columns[1], table->columns[2]));
    bool any = false;
    for (int r = 0; r < row_count; r++) {
        bool small = !(row_total(rows[r]) * rarest / table->total > EXPECTED_MIN);
        if (small && !isnan(residuals[r])) {
            residuals[r] = ROW_DROPPED;
            any = true;
        }
    }
    return any;
}

static double row_chi2(const OutcomeTable *table, const double row[3]) {
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double expected = row_total(row) * table->columns[c] / table->total;
        sum += (row[c] - expected) * (row[c] - expected) / expected;
    }
    return sum;
}

// Upper tail for an even number of degrees of freedom: a sum of Poisson probabilities, computed
// with logarithms because the terms may overflow or underflow.
static double chi2_upper_tail(double x, int dof) {
    double h = x / 2, sum = 0, log_term = -h;
    for (int j = 0; j < dof / 2; j++) {
        if (j > 0)
            log_term += log(h / j);
        sum += exp(log_term);
    }
    return fmin(sum, 1);
}

// The row's part of chi2, corrected for the weight of the row in the table, has a chi-squared
// distribution with two degrees of freedom. Its upper tail is exp(-x/2).
static double residual(const OutcomeTable *table, const double row[3], double share) {
    double h = share / (1 - row_total(row) / table->total) / 2;
    return h > M_LN2 ? normal_upper_quantile_log(h) : 0;
}

Chi2 chi2_workers(const double (*rows)[3], int row_count, double *residuals) {
    memset(residuals, 0, (size_t)row_count * sizeof *residuals);
    OutcomeTable table;
    do
        table = table_sum(rows, row_count, residuals);
    while (table_prune(&table, rows, row_count, residuals));
    if (table.rows < 2) {
        for (int r = 0; r < row_count; r++)
            residuals[r] = ROW_DROPPED;
        return (Chi2){NAN, NAN, NAN, NAN, 0};
    }
    Chi2 result = {.dof = (table.rows - 1) * 2,
                   .z95 = normal_quantile(1 - 0.05 / table.rows),
                   .z99 = normal_quantile(1 - 0.01 / table.rows)};
    for (int r = 0; r < row_count; r++) {
        if (isnan(residuals[r]))
            continue;
        double share = row_chi2(&table, rows[r]);
        result.chi2 += share;
        residuals[r] = residual(&table, rows[r], share);
    }
    result.p = chi2_upper_tail(result.chi2, result.dof);
    return result;
}
