"""The maximal information coefficient of two ranked columns."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

Integers = npt.NDArray[np.int64]


@njit(cache=True, nogil=True)
def fill_in_order(size: Integers, n_groups: int, n_bins: int, bin_of: Integers) -> int:
    """Fill at most ``n_bins`` bins evenly with whole groups, in order; return how many bins were opened.

    The next bin opens when the group at hand would leave this one further from its target than it is now;
    its target is then an even share of the values left.
    """
    left = 0
    for g in range(n_groups):
        left += size[g]
    current = 0
    inside = 0
    target = left / n_bins
    for g in range(n_groups):
        if inside > 0 and abs(inside + size[g] - target) >= abs(inside - target):
            current += 1
            inside = 0
            target = left / (n_bins - current)
        bin_of[g] = current
        inside += size[g]
        left -= size[g]
    return current + 1


@njit(cache=True, nogil=True)
def maximal_information(
    rank_x: Integers,
    size_x: Integers,
    rank_y: Integers,
    size_y: Integers,
    cells: float,
    clumps_per_column: float,
) -> float:
    """MIC of two columns of dense ranks.

    ``size`` counts the values of each rank; a grid has at most ``cells`` cells.

    For each direction and number of rows: rows of even size on one axis, then the best columns on the other
    by dynamic programming over clumps s < t. A column of counts N_q costs N log N - sum_q N_q log N_q, and

        least[l, t] = min over s of least[l - 1, s] + cost(s, t)     (first t clumps, at most l columns)

    is pushed forward from every s, so that the innermost loop runs over neighbours in t.
    """
    n = len(rank_x)
    highest = 0.0
    if len(size_x) < 2 or len(size_y) < 2:
        return highest

    n_log_n = np.zeros(n + 1)
    for m in range(2, n + 1):
        n_log_n[m] = m * math.log(m)

    most_columns = int(cells / 2)
    most_clumps = min(n, max(int(clumps_per_column * most_columns), 1))
    next_place = np.empty(n, np.int64)
    rank_along = np.empty(n, np.int64)
    row_of = np.empty(n, np.int64)
    clump_of = np.empty(n, np.int64)
    clump_size = np.empty(n, np.int64)
    column_of = np.empty(n, np.int64)
    points = np.empty(most_clumps + 1, np.int64)
    points_in_row = np.empty(int((clumps_per_column + 2) * cells), np.int64)
    cost_of = np.empty(most_clumps + 1)
    least = np.empty((most_columns, most_clumps + 1))

    for direction in range(2):
        rank_a, size_a, rank_b, size_b = rank_x, size_x, rank_y, size_y
        if direction == 1:
            rank_a, size_a, rank_b, size_b = rank_y, size_y, rank_x, size_x

        place = 0
        for g in range(len(size_a)):
            next_place[g] = place
            place += size_a[g]
        for i in range(n):
            rank_along[next_place[rank_a[i]]] = rank_b[i]  # the b ranks, sorted by a
            next_place[rank_a[i]] += 1

        for n_rows in range(2, most_columns + 1):
            n_columns = int(cells / n_rows)
            if n_columns < 2:
                break
            used_rows = fill_in_order(size_b, len(size_b), n_rows, row_of)

            # clumps: neighbours along a that share a row; a tied group in several rows stands alone (row -1)
            n_clumps = 0
            last_row = -1
            place = 0
            for g in range(len(size_a)):
                row = row_of[rank_along[place]]
                for i in range(place, place + size_a[g]):
                    if row_of[rank_along[i]] != row:
                        row = -1
                        break
                if row == -1 or row != last_row:
                    clump_size[n_clumps] = 0
                    n_clumps += 1
                clump_of[g] = n_clumps - 1
                clump_size[n_clumps - 1] += size_a[g]
                last_row = row
                place += size_a[g]

            # too many of them are merged evenly
            k = max(int(clumps_per_column * n_columns), 1)
            if n_clumps > k:
                k = fill_in_order(clump_size, n_clumps, k, column_of)
            else:
                k = n_clumps
                for j in range(k):
                    column_of[j] = j

            # points among the first t clumps, in each row and in all
            for t in range(k + 1):
                points[t] = 0
            for t in range(used_rows * (k + 1)):
                points_in_row[t] = 0
            place = 0
            for g in range(len(size_a)):
                t = column_of[clump_of[g]] + 1
                points[t] += size_a[g]
                for i in range(place, place + size_a[g]):
                    points_in_row[row_of[rank_along[i]] * (k + 1) + t] += 1
                place += size_a[g]
            for t in range(1, k + 1):
                points[t] += points[t - 1]
            for q in range(used_rows):
                for t in range(q * (k + 1) + 1, (q + 1) * (k + 1)):
                    points_in_row[t] += points_in_row[t - 1]

            # views that begin at s let the inner loops count from 0, so that they run several t at a time: 2x
            for s in range(k):
                cost = cost_of[: k + 1 - s]
                inside = points[s : k + 1]
                for t in range(len(cost)):
                    cost[t] = n_log_n[inside[t] - inside[0]]
                for q in range(used_rows):
                    inside = points_in_row[q * (k + 1) + s : (q + 1) * (k + 1)]
                    for t in range(len(cost)):
                        cost[t] -= n_log_n[inside[t] - inside[0]]
                if s == 0:
                    for i in range(n_columns):
                        for t in range(k + 1):
                            least[i, t] = cost[t]
                # row i of `least` is i + 1 columns; t = s is an empty one, free: fewer columns are allowed
                for i in range(min(s, n_columns - 2)):
                    before = least[i, s]
                    after = least[i + 1, s : k + 1]
                    for t in range(len(after)):
                        total = before + cost[t]
                        after[t] = total if total < after[t] else after[t]
                if s > n_columns - 2:  # the last column must end at the last clump
                    least[n_columns - 1, k] = min(least[n_columns - 1, k], least[n_columns - 2, s] + cost[k - s])

            spread = n_log_n[n]
            for q in range(used_rows):
                spread -= n_log_n[points_in_row[(q + 1) * (k + 1) - 1]]
            for i in range(1, n_columns):
                least[i, k] = min(least[i, k], least[i - 1, k])
                information = (spread - least[i, k]) / n
                highest = max(highest, information / math.log(min(i + 1, n_rows)))
    return min(highest, 1.0)
