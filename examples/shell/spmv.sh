#!/bin/sh
# A matrix times a vector of ones, and the loops that do it: spmv.sh A.mtx
lacuna eval 'y(i) = A(i,j)*x(j)' A="$1:CSR" x='[1,1,1,1,1]'
lacuna explain 'y(i) = A(i,j)*x(j)' A:CSR
