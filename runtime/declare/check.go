package declare

import "github.com/lacuna-sparse/lacuna/lang"

// Check parses a program and checks it against what is declared.
func (d *Declarations) Check(src string) (*lang.File, *lang.Program, error) {
	file, err := lang.Parse(src)
	if err != nil {
		return nil, nil, err
	}
	if err := file.Attach(d.schedule); err != nil {
		return nil, nil, err
	}
	program, err := d.CheckFile(file)
	return file, program, err
}

// CheckFile resolves and types what Check has parsed.
func (d *Declarations) CheckFile(file *lang.File) (*lang.Program, error) {
	decls, err := d.Decls(file)
	if err != nil {
		return nil, err
	}
	return lang.Check(file, decls)
}
