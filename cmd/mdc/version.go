// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// release is set by the linker when a release is built.
var release string

// version is the release, else the version of the module that was installed,
// else "dev".
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

// versionInfo is the JSON form.
type versionInfo struct {
	Version   string   `json:"version"`
	Commit    string   `json:"commit"`
	GoVersion string   `json:"goVersion"`
	Platform  string   `json:"platform"`
	APIs      []string `json:"apiVersions"`
}

func newVersion(a *app) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if format == "text" {
				_, err := fmt.Fprintln(a.stdout, version())
				return err
			}
			e := json.NewEncoder(a.stdout)
			e.SetIndent("", "  ")
			return e.Encode(versionInfo{
				Version:   version(),
				Commit:    commit(),
				GoVersion: runtime.Version(),
				Platform:  runtime.GOOS + "/" + runtime.GOARCH,
				APIs:      []string{v1.GroupVersion.String()},
			})
		},
	}
	formatFlag(c, &format, "text", "json")
	return c
}

// commit is what the program was built from; "unknown" when it was not built in
// a checkout.
func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
