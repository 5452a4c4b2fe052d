#!/bin/sh
# How much goes from where to where in two steps, from an edge list: edges.sh EDGES.csv OUT.csv
lacuna eval 'C(i,k) = A(i,j)*A(j,k)' A="$1:nodes=from,to:entry=weight" C:CSR -o C="$2"
