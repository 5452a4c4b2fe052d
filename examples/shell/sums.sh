#!/bin/sh
# The sums of rows and of columns of an AnnData file that need not fit in memory: sums.sh CELLS.h5ad ROWS.npy COLUMNS.npy
lacuna eval 'y(i) = A(i,j); z(j) = A(i,j)' A="$1" -o y="$2" -o z="$3" --memory-limit 2GiB
