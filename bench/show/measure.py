# Runs a command, its output to /dev/null, and prints its processor time and the most memory it had: measure.py NAME COMMAND…
import resource, subprocess, sys
r = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
u = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{sys.argv[1]:24} status {r.returncode}  cpu {u.ru_utime + u.ru_stime:5.1f} s  {u.ru_maxrss / 1024:5.0f} MiB")
