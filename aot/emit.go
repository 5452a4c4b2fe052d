package aot

import (
	"github.com/lacuna-sparse/lacuna/internal/llvm"
)

// Object compiles a program to an object file for a target. It has no undefined symbols.
func Object(l *llvm.LLVM, p *Program, t Target) ([]byte, error) {
	text, err := Module(p, t)
	if err != nil {
		return nil, err
	}
	object, err := l.EmitObject(text, llvm.Options{Target: t.llvm()})
	if err != nil {
		return nil, err
	}
	return object, nil
}

// Assembly compiles a program to assembly for a target.
func Assembly(l *llvm.LLVM, p *Program, t Target) (string, error) {
	text, err := Module(p, t)
	if err != nil {
		return "", err
	}
	return l.EmitAssembly(text, llvm.Options{Target: t.llvm()})
}
