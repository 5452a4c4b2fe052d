package cli

import (
	"errors"
	"strings"

	"github.com/lacuna-sparse/lacuna/lang"
)

// Advise has the hints of errors of the language, of how names get values and shapes, say how at the command line.
func Advise(err error, command string) error {
	var list lang.Errors
	var one *lang.Error
	if !errors.As(err, &list) && errors.As(err, &one) {
		list = lang.Errors{one}
	}
	for _, e := range list {
		if !strings.Contains(e.Hint, "declare") { // it is about something else, and says what to do
			continue
		}
		switch {
		case e.Code == lang.ErrUnknownName && command == "repl":
			e.Hint = "give the name a value: NAME = FILE, NAME = random(…) or NAME = NUMBER"
		case e.Code == lang.ErrUnknownName && command == "explain":
			e.Hint = "declare operands as NAME:FORMAT[TYPE], such as A:CSR[f64]; a scalar as NAME:[f64]"
		case e.Code == lang.ErrUnknownName:
			e.Hint = "pass operands as NAME=FILE, NAME=random(…) or NAME=NUMBER"
		case e.Code == lang.ErrNoValue && command == "repl":
			e.Hint += ", or give it a value: NAME = FILE"
		case e.Code == lang.ErrNoValue:
			e.Hint += " (--shape NAME=10,20); sums by the labels of a column, NAME=FILE:entry=COLUMN, need neither"
		case e.Code == lang.ErrFreeExtent && command == "repl":
			e.Hint = "take the extent of a tensor, such as that of rows: like(0.0, A(i,:))"
		case e.Code == lang.ErrFreeExtent || e.Code == lang.ErrOutOfRange:
			e.Hint += " (--shape NAME=10,20)"
		}
	}
	return err
}
