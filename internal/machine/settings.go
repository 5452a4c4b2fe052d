package machine

import "fmt"

// SettingError says that an environment variable that tells of the processor makes no sense.
type SettingError struct {
	Env, Text string // the variable and its value
	Problem   string // what is wrong, and what could be written
}

// Error names the variable.
func (e *SettingError) Error() string { return fmt.Sprintf("%s=%q%s", e.Env, e.Text, e.Problem) }

// CheckSettings is what is wrong with CPUEnv or CachesEnv, a *SettingError.
func CheckSettings() error {
	if _, err := Restricted(); err != nil {
		return err
	}
	_, err := HostCaches()
	return err
}
