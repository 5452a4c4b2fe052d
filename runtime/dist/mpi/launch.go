package mpi

import (
	"os"
	"strconv"
)

// launcher is how processes are started: variables that it gives each.
type launcher struct {
	rank                 string // its number among all
	size                 string // how many there are; "": not told
	localRank, localSize string // the same on its machine
	library              *implementation
}

// launchers are looked for in this order: PMIx is also what mpirun of Open MPI uses.
var launchers = []launcher{
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", &openMPI},
	{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", &mpich},            // hydra, which is mpirun of MPICH; srun --mpi=pmi2
	{"PMIX_RANK", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE", &openMPI}, // srun --mpi=pmix
}

// launched is the launcher that has started this process; nil: none.
func launched() *launcher {
	for i, l := range launchers {
		if os.Getenv(l.rank) != "" {
			return &launchers[i]
		}
	}
	return nil
}

// Launched reports whether mpirun has started this process. It is where a program decides to be one of several ranks.
func Launched() bool { return launched() != nil }

// Number is the number of this process among those that mpirun has started, known before Open; 0 where it has not been started
// by mpirun.
func Number() int {
	if l := launched(); l != nil {
		return number(l.rank, 0)
	}
	return 0
}

// LocalRank is the number of this process among those of its machine, as its launcher says: which of several GPUs is its.
func LocalRank() int {
	if l := launched(); l != nil {
		return number(l.localRank, 0)
	}
	return 0
}

// LocalSize is how many processes mpirun has started on this machine, as far as it says so, at least 1: they share its
// processors.
func LocalSize() int {
	if l := launched(); l != nil {
		return max(1, number(l.localSize, 1))
	}
	return 1
}

// number is an environment variable's value, or what it is without one.
func number(name string, without int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return without
	}
	return n
}
