//go:build js && wasm

// Command wasm is the explorer in a browser: the worker of the page calls lacunaAnswer with a question in JSON
// and gets the answer. Package internal/explorer says what may be asked.
package main

import (
	"context"
	"syscall/js"

	"github.com/lacuna-sparse/lacuna/internal/explorer"
)

func main() {
	service := &explorer.Service{}
	js.Global().Set("lacunaAnswer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		question := args[0].String()
		// In a goroutine that may wait: the callback itself must not.
		return js.Global().Get("Promise").New(js.FuncOf(func(_ js.Value, args []js.Value) any {
			resolve := args[0]
			go func() { resolve.Invoke(string(service.Answer(context.Background(), []byte(question)))) }()
			return nil
		}))
	}))
	select {}
}
