"""Prints the table of bench/results from what the command gpu and peers.py have printed.

    python3 table.py OURS PEERS
"""
import sys


def read_ours(path):
    cases = {}
    for line in open(path):
        name, *words = line.split()
        if not words:
            continue
        if words[0] == "wall":
            cases[name] = {k: float(v) for k, v in zip(words[::2], words[1::2]) if not v.endswith(":")}
        else:
            cases.setdefault(name, {"failed": " ".join(words)[:80]})
    return cases


def read_peers(path):
    cases = {}
    for line in open(path):
        words = line.split()
        if len(words) == 4 and words[2] != "failed:":
            cases.setdefault(words[0], []).append((float(words[2]), words[1]))
    return cases


ours, peers = read_ours(sys.argv[1]), read_peers(sys.argv[2])
copied = peers.get("copy/1GiB")
bandwidth = 2 * 2**30 / copied[0][0] / 1e9 if copied else None  # TB/s
if bandwidth:
    print(f"A copy of 1 GiB moves {bandwidth:.2f} TB/s. Milliseconds.\n")
print("| case | device | wall | moved MB | share of copy | fastest peer | | peer/device | first | known |")
print("|---|---|---|---|---|---|---|---|---|---|")
for name, c in ours.items():
    if "failed" in c:
        print(f"| {name} | {c['failed']} | | | | | | | | |")
        continue
    device = c.get("device", c["wall"])
    share = f"{c['moved'] / device / 1e9 / bandwidth * 100:.0f} %" if bandwidth else ""
    time, peer = min(peers.get(name, [(None, "")]), key=lambda p: p[0] or 0)
    against = (f"{time:.3f}", peer, f"{time / device:.2f}") if time else ("", "", "")
    known = f"{c['known']:.0f}" if "known" in c else ""
    print(f"| {name} | {device:.3f} | {c['wall']:.3f} | {c['moved'] / 1e6:.0f} | {share} | " + " | ".join(against)
          + f" | {c['first']:.0f} | {known} |")
