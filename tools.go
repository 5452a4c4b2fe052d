//go:build tools

package lacuna

// Tools that the checks run; listed here so that go.mod pins their versions.
import _ "honnef.co/go/tools/cmd/staticcheck"
