/* SPDX-License-Identifier: GPL-2.0 */
#ifndef STATS_H
#define STATS_H

double stats_quantile(double *values, unsigned int nr, double q);

#endif /* STATS_H */
