#!/bin/sh
# What cells of each label have of each gene, from an AnnData file: labels.sh CELLS.h5ad COLUMN
lacuna eval 'G(c(i),j) += A(i,j); n(c(i)) += 1' A="$1:entry=X" c="$1:entry=obs/$2"
