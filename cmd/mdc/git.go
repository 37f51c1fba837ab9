// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// gitTree is a revision of a repository, checked out beside it.
type gitTree struct {
	// top is the work tree of the repository, root where the revision is.
	top, root string
}

// checkOut writes a revision of the repository around a path into a directory.
// The repository, its index and its work tree stay as they are.
func checkOut(ctx context.Context, path, revision, dir string) (*gitTree, error) {
	from := path
	if info, err := os.Stat(path); path == "-" || err != nil || !info.IsDir() {
		from = filepath.Dir(path)
	}
	index := "GIT_INDEX_FILE=" + filepath.Join(dir, "index")
	top, err := git(ctx, from, nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("%s is not in a git repository, of which --base could name a revision; use --old: %w", path, err)
	}
	t := &gitTree{top: top, root: filepath.Join(dir, "tree")}
	commit, err := git(ctx, top, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err != nil {
		return nil, fmt.Errorf("git knows no revision %q; fetch it first (in CI: with its history)", revision)
	}
	if err := os.Mkdir(t.root, 0o700); err != nil {
		return nil, err
	}
	if _, err := git(ctx, top, []string{index}, "read-tree", commit); err != nil {
		return nil, err
	}
	_, err = git(ctx, top, []string{index}, "checkout-index", "--all", "--quiet", "--prefix="+t.root+string(filepath.Separator))
	return t, err
}

// errOutside is about a path that is in no revision.
var errOutside = errors.New("it is not in the git repository")

// paths are where paths of the work tree are in the revision; those that it has
// not are left out.
func (t *gitTree) paths(paths []string) (out []string, err error) {
	for _, p := range paths {
		if p == "-" {
			return nil, errors.New("standard input has no former revision; name a file")
		}
		rel, err := filepath.Rel(t.top, place(p))
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return nil, fmt.Errorf("%s: %w %s", p, errOutside, t.top)
		}
		then := filepath.Join(t.root, rel)
		if _, err := os.Lstat(then); err == nil {
			out = append(out, then)
		}
	}
	return out, nil
}

// git runs git, in the current directory by default, and returns what it prints.
func git(ctx context.Context, dir string, env []string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", args...)
	c.Dir = dir
	c.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		if text := strings.TrimSpace(stderr.String()); text != "" {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
