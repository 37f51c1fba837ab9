// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"path/filepath"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// overlay shows some files with other contents.
type overlay struct {
	filesys.FileSystem
	files map[string][]byte // by absolute path
}

// ReadFile implements filesys.FileSystem.
func (o *overlay) ReadFile(p string) ([]byte, error) {
	if dir, file, err := o.CleanedAbs(p); err == nil {
		if data, ok := o.files[filepath.Join(dir.String(), file)]; ok {
			return data, nil
		}
	}
	return o.FileSystem.ReadFile(p)
}
