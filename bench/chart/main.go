// Command chart draws the tables of a page under bench/results: how long others take where Lacuna takes 1.
//
//	go run -C bench ./chart results/sparse-2026-11-22.md -o chart.png
//
// A row of the chart is a row of the table (of all inputs, where it has several), or a table, where each side has a row of its
// own; every dot is one measurement. The scripts that write a page draw one beside it.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("chart: ")
	if err := run(os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("chart", flag.ContinueOnError)
	out := flags.String("o", "", "the `FILE` to write, png or svg; PAGE.png if nothing is said")
	if len(args) == 0 {
		return fmt.Errorf("usage: chart PAGE.md [-o FILE]")
	}
	page := args[0]
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	c, err := read(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	if *out == "" {
		*out = strings.TrimSuffix(page, filepath.Ext(page)) + ".png"
	}
	return c.write(*out)
}
