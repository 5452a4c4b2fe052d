# What examples/ratings does, with SciPy: ratings.py RATINGS.csv
import csv, sys
import numpy as np, scipy.sparse as sp
rows = [r for r in csv.reader(open(sys.argv[1])) if not r[0].startswith("#")]
names = [list(dict.fromkeys(r[k] for r in rows)) for k in (0, 1)]
number = [{n: i for i, n in enumerate(list)} for list in names]
last = {(number[0][u], number[1][f]): float(s) for u, f, s in rows}  # the last of several
last[0, 0] = 3.5
last.pop((2, 1), None)
at = np.array(list(last)).T
R = sp.csr_array((list(last.values()), (at[0], at[1])), shape=(len(names[0]), len(names[1])))
n = sp.linalg.norm(R, axis=0) if hasattr(sp, "linalg") else np.sqrt((R * R).sum(axis=0))
S = (R.T @ R).tocoo()
m = R.sum(axis=0) / (R != 0).sum(axis=0)
for i, j, s in zip(S.row, S.col, S.data):
    if i < j:
        print(f"{s / (n[i] * n[j]):.3f}  {names[1][i]}, {names[1][j]}")
for film, stars in zip(names[1], m):
    print(f"{stars:.2f}  {film}")
