// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

// Command etcd is the server of etcd, which is published as a package only.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
