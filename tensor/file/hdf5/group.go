package hdf5

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Object is a *Group or a *Dataset.
type Object interface {
	// Path is the way by which the object was reached, from "/".
	Path() string
	// AttrNames lists the object's attributes, sorted.
	AttrNames() ([]string, error)
	// Attr returns an attribute. The error wraps ErrNotFound if there is none of this name.
	Attr(name string) (*Attr, error)
}

// object is what groups and datasets have in common.
type object struct {
	f    *File
	path string
	addr uint64 // of the object header

	attrs func() (map[string][]byte, error) // attribute messages by name, read once
}

func newObject(f *File, path string, addr uint64) *object {
	o := &object{f: f, path: path, addr: addr}
	o.attrs = sync.OnceValues(o.attrIndex)
	return o
}

// Path is the way by which the object was reached, from "/".
func (o *object) Path() string { return o.path }

// Group is a directory of named objects.
type Group struct{ *object }

// Names lists the objects (and links) of the group, sorted by their bytes.
func (g *Group) Names() ([]string, error) {
	links, err := g.links()
	if err != nil {
		return nil, at(g.path, err)
	}
	return slices.Sorted(maps.Keys(links)), nil
}

// Lookup returns the object at a path from g.
func (g *Group) Lookup(path string) (Object, error) {
	here := g
	names := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for i, name := range names {
		obj, err := here.child(name)
		if err != nil {
			return nil, err
		}
		if i == len(names)-1 {
			return obj, nil
		}
		next, ok := obj.(*Group)
		if !ok {
			return nil, &Error{Path: obj.Path(), Msg: "is a dataset and holds nothing; expected a group", Err: ErrNotFound}
		}
		here = next
	}
	return here, nil
}

// Group returns the group at a path from g.
func (g *Group) Group(path string) (*Group, error) {
	obj, err := g.Lookup(path)
	if err != nil {
		return nil, err
	}
	if d, ok := obj.(*Dataset); ok {
		return nil, at(d.path, errorf("is a dataset; expected a group"))
	}
	return obj.(*Group), nil
}

// Dataset returns the dataset at a path from g.
func (g *Group) Dataset(path string) (*Dataset, error) {
	obj, err := g.Lookup(path)
	if err != nil {
		return nil, err
	}
	if g, ok := obj.(*Group); ok {
		return nil, at(g.path, errorf("is a group; expected a dataset"))
	}
	return obj.(*Dataset), nil
}

// child opens the object that a link of the group names.
func (g *Group) child(name string) (Object, error) {
	path := join(g.path, name)
	links, err := g.links()
	if err != nil {
		return nil, at(g.path, err)
	}
	l, ok := links[name]
	if !ok {
		return nil, &Error{Path: path, Msg: "there is no such object", Err: ErrNotFound}
	}
	if l.elsewhere != "" {
		return nil, at(path, unsupported("is %s, which is not followed", l.elsewhere))
	}
	obj, err := g.f.open(path, l.addr)
	return obj, at(path, err)
}

// open finds out what is at an address, by the messages it has.
func (f *File) open(path string, addr uint64) (Object, error) {
	msgs, err := f.header(addr)
	if err != nil {
		return nil, err
	}
	o := newObject(f, path, addr)
	has := make(map[uint16]bool)
	for _, m := range msgs {
		has[m.typ] = true
	}
	switch {
	case has[msgSymbolTable] || has[msgLinkInfo]:
		return &Group{o}, nil
	case has[msgLayout]:
		d, err := newDataset(o, msgs)
		if err != nil {
			return nil, err
		}
		return d, nil
	case has[msgDatatype]:
		return nil, unsupported("is a datatype; expected a group or a dataset")
	}
	return nil, errorf("is neither a group nor a dataset")
}

// maxDepth bounds how deep Walk goes into groups within groups.
const maxDepth = 256

// Walk calls visit for g and everything below it, groups before what they hold, names
// in order. Objects with several names are visited once, under the first. If
// an object cannot be opened, visit gets the error and a nil object; if a group
// cannot be listed, visit gets the error and the group, for a second time. An error
// that visit returns ends the walk and is returned.
func (g *Group) Walk(visit func(path string, obj Object, err error) error) error {
	return g.walk(visit, visited{}, 0)
}

func (g *Group) walk(visit func(string, Object, error) error, seen visited, depth int) error {
	if depth > maxDepth {
		return visit(g.path, g, at(g.path, errorf("groups are nested more than %d deep", maxDepth)))
	}
	seen[g.addr] = struct{}{}
	if err := visit(g.path, g, nil); err != nil {
		return err
	}
	links, err := g.links()
	if err != nil {
		return visit(g.path, g, at(g.path, err))
	}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		l := links[name]
		if l.elsewhere == "" && seen.add(l.addr, "an object") != nil {
			continue
		}
		obj, err := g.child(name)
		switch o := obj.(type) {
		case *Group:
			err = o.walk(visit, seen, depth+1)
		case *Dataset:
			err = visit(o.path, o, nil)
		default:
			err = visit(join(g.path, name), nil, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// join appends a name to the path of a group.
func join(group, name string) string { return strings.TrimSuffix(group, "/") + "/" + name }
