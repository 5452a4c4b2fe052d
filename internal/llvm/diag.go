package llvm

import (
	"strings"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// severity is LLVMDiagnosticSeverity.
type severity int32

const (
	severityError severity = iota
	severityWarning
	severityRemark
	severityNote
)

// diagnostics collects what LLVM reports through its two callbacks: diagnostics
// of a context and errors of a JIT session. The callbacks carry an integer that
// names the log they go to; one C callback of each kind serves a library, for
// purego can make only a limited number of them.
type diagnostics struct {
	onDiagnostic uintptr // C function of a context's diagnostics
	onError      uintptr // C function of a session's errors

	mu   sync.Mutex
	next uintptr
	logs map[uintptr]*messageLog
}

// messageLog is what LLVM said during one piece of work.
type messageLog struct {
	mu       sync.Mutex
	errors   []string
	warnings []string
}

// install makes the callbacks.
func (d *diagnostics) install(l *LLVM) {
	d.logs = map[uintptr]*messageLog{}
	d.onDiagnostic = newCallback(func(info, id uintptr) uintptr {
		text := l.takeMessage(l.api.getDiagInfoDescription(info))
		d.log(id).add(severity(l.api.getDiagInfoSeverity(info)), text)
		return 0
	})
	d.onError = newCallback(func(id, ref uintptr) uintptr {
		message := l.api.getErrorMessage(ref)
		d.log(id).add(severityError, dl.String(message))
		l.api.disposeErrorMessage(message)
		return 0
	})
}

// newLog opens a log and returns the number that callbacks know it by.
func (d *diagnostics) newLog() (id uintptr, log *messageLog) {
	log = &messageLog{}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.next++
	d.logs[d.next] = log
	return d.next, log
}

// closeLog forgets a log.
func (d *diagnostics) closeLog(id uintptr) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.logs, id)
}

// log finds a log; an unknown number gets one that nobody reads.
func (d *diagnostics) log(id uintptr) *messageLog {
	d.mu.Lock()
	defer d.mu.Unlock()
	if log, ok := d.logs[id]; ok {
		return log
	}
	return &messageLog{}
}

func (m *messageLog) add(s severity, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch s {
	case severityError:
		m.errors = append(m.errors, text)
	case severityWarning:
		m.warnings = append(m.warnings, text)
	}
	// Remarks and notes come only when asked for, and nobody asks.
}

// failed reports whether LLVM reported an error.
func (m *messageLog) failed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.errors) > 0
}

// text joins the errors, and a further message if there is one.
func (m *messageLog) text(more string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.errors
	if more != "" {
		all = append([]string{more}, all...)
	}
	return strings.Join(all, "\n")
}
