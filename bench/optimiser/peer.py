"""Computes with SciPy and NumPy, or on a GPU with CuPy, what it is asked on standard input, one JSON object a line."""
import json
import statistics
import sys
import time

import numpy

where = sys.argv[1]
if sys.argv[2:] == ["CuPy"]:
    import cupy as np
    import cupyx.scipy.sparse as sp

    def wait():
        np.cuda.Device().synchronize()

    def rows(m):
        return m.tocoo(copy=False).row

    def here(x):
        return np.asnumpy(x)
else:
    import numpy as np
    import scipy.sparse as sp

    def wait():
        pass

    def rows(m):
        return np.repeat(np.arange(m.shape[0]), np.diff(m.indptr))

    def here(x):
        return x

names = {"np": np, "sp": sp, "rows": rows}


def take(operands):
    for name, o in operands.items():
        raw = np.asarray(numpy.fromfile(f"{where}/{name}", dtype=np.int64))
        shape = tuple(o["shape"] or ())  # a number has none, which CuPy does not take for the empty shape
        if o["format"].startswith("D") and not o["format"].startswith("DC") or not shape:
            names[name] = raw.view(np.float64).reshape(shape)
            continue
        n = len(raw) // (len(shape) + 1)
        coords = [raw[k * n:(k + 1) * n] for k in range(len(shape))]
        values = raw[len(shape) * n:].view(np.float64)
        if len(shape) == 2:
            m = sp.coo_matrix((values, tuple(coords)), shape=tuple(shape))
            names[name] = m.tocsc() if o["format"] == "CSC" else m.tocsr()
        else:
            names[name] = (coords, values, shape)
    return 0.0


def compare(expr):
    ours = numpy.fromfile(f"{where}/ours", dtype=np.float64)
    theirs = eval(expr, names)
    if sp.issparse(theirs):
        theirs = theirs.toarray()
    theirs = numpy.asarray(here(theirs), dtype=np.float64).reshape(-1)
    return float(numpy.max(numpy.abs(ours - theirs), initial=0.0) / max(numpy.max(numpy.abs(theirs), initial=0.0), 1e-300))


def measure(expr, budget, now):
    code = compile(expr, "expr", "eval")
    wait()
    took, begin = [], time.perf_counter()
    while len(took) < 3 or time.perf_counter() - begin < budget and len(took) < 10000:
        t = now()
        eval(code, names)
        wait()
        took.append(now() - t)
    return 1000 * statistics.median(took)


for line in sys.stdin:
    r = json.loads(line)
    try:
        if "take" in r:
            value = take(r["take"])
        elif "compare" in r:
            value = compare(r["compare"])
        else:
            value = measure(r["time"], r["budget"], time.process_time if r["cpu"] else time.perf_counter)
        answer = {"Value": value}
    except Exception as e:  # the other side reports it
        answer = {"Error": repr(e)}
    print(json.dumps(answer), flush=True)
