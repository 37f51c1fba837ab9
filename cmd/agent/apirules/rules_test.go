// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package apirules

// extent is how much of a rule an API server judges by itself.
type extent string

const (
	// full: whatever mdc refuses by the rule, an API server refuses.
	full extent = "full"
	// partly: an API server refuses some of it, and the rest passes.
	partly extent = "partly"
	// not: only mdc judges the rule.
	not extent = "not"
)

// enforcement says how an API server judges a rule.
type enforcement struct {
	extent extent
	// schema: it is a bound of the schema, so Kubernetes words the refusal and
	// the slug does not appear in it.
	schema bool
	// reason says what is missing.
	reason string
}

// Reasons that hold for several rules.
const (
	readsType     = "reads the InstanceType"
	readsPool     = "reads the cache pool"
	readsSetting  = "reads a Setting"
	readsLine     = "reads values out of a command line"
	abbreviations = "unique prefixes of the flags pass"
	noSuchObject  = "nothing that the schema lets through is refused by it"
	onlyWarns     = "is a warning"
)

// enforced has every rule, in no order.
var enforced = map[string]enforcement{
	"schema-unknown":             {full, true, ""},
	"schema-required":            {full, true, ""},
	"schema-model-name":          {full, true, ""},
	"schema-engine-name":         {full, true, ""},
	"schema-engine-version":      {full, true, ""},
	"schema-connector":           {full, true, ""},
	"schema-kvtransfer-protocol": {full, true, ""},
	"schema-roles-min":           {full, true, ""},
	"schema-role-dup":            {full, true, ""},
	"schema-role-name":           {full, true, ""},
	"schema-role-kind":           {full, true, ""},
	"schema-replicas":            {full, true, ""},
	"schema-size":                {full, true, ""},
	"schema-instance-type":       {full, true, ""},
	"schema-image":               {full, true, ""},
	"schema-port":                {full, true, ""},
	"schema-env-dup":             {full, true, ""},
	"schema-volume":              {full, true, ""},
	"schema-slice":               {full, true, ""},
	"schema-profile":             {full, true, ""},
	"schema-grace":               {full, true, ""},
	"schema-router-name":         {full, true, ""},
	"schema-router-replicas":     {full, true, ""},
	"schema-router-timeout":      {full, true, ""},
	"schema-router-threshold":    {full, true, ""},
	"schema-bounds":              {full, true, ""},
	"schema-pull-policy":         {full, true, ""},
	"role-count":                 {full, true, ""},

	"engine-version":     {full, false, ""},
	"kvcache-pool-ref":   {full, false, ""},
	"role-name-dup":      {not, true, "the schema refuses it first, as schema-role-dup"},
	"service-name":       {full, false, ""},
	"service-name-clash": {full, false, ""},
	"member-name":        {full, false, ""},

	"kind-mix":          {full, false, ""},
	"kind-repeat":       {full, false, ""},
	"kind-engine":       {not, false, noSuchObject},
	"topology-syntax":   {full, false, ""},
	"topology-hostname": {full, false, ""},

	"owned-arg":      {partly, false, abbreviations},
	"kv-cache-dtype": {not, false, readsSetting},
	"artifact-arg":   {partly, false, abbreviations},
	"served-name":    {not, false, readsLine},
	"owned-env":      {full, false, ""},
	"artifact-env":   {full, false, ""},
	"parallel-parse": {not, false, readsLine},
	"parallel-width": {not, false, readsLine},

	"accelerator-count": {full, false, ""},
	"interface-count":   {full, false, ""},
	"slice-and-profile": {full, false, ""},

	"volume-source":     {full, false, ""},
	"volume-path-dup":   {full, false, ""},
	"volume-subpath":    {full, false, ""},
	"artifact-mount":    {partly, false, "a path with . or .. as an element passes"},
	"volume-owned-path": {not, false, onlyWarns},
	"host-privileged":   {not, false, readsSetting},
	"host-path":         {not, false, readsSetting},

	"reserved-port":        {partly, false, "the ports of the event publisher depend on the InstanceType"},
	"listen-port":          {not, false, readsLine},
	"reserved-listen-port": {not, false, readsLine},

	"router-owned-arg":   {full, false, ""},
	"router-threshold":   {full, false, ""},
	"router-engine":      {full, false, ""},
	"router-metrics":     {not, false, noSuchObject},
	"router-tcp":         {full, false, ""},
	"router-tls":         {partly, false, abbreviations},
	"router-same-port":   {partly, false, "a port that only the command line states is not read"},
	"router-decode-port": {not, false, readsLine},

	"frozen-model":         {full, false, ""},
	"frozen-engine":        {full, false, ""},
	"frozen-kvcache":       {full, false, ""},
	"frozen-role-set":      {full, false, ""},
	"frozen-kind":          {full, false, ""},
	"frozen-size":          {full, false, ""},
	"frozen-instance-type": {full, false, ""},
	"frozen-resources":     {partly, false, "a number of accelerators that is added later passes, because it may be the default; on a type without accelerators it is none"},
	"frozen-command":       {full, false, ""},
	"frozen-router-name":   {full, false, ""},

	"type-missing":     {not, false, readsType},
	"type-not-ready":   {not, false, readsType},
	"mode-slice":       {not, false, readsType},
	"mode-partition":   {not, false, readsType},
	"mode-profile":     {not, false, readsType},
	"single-card":      {not, false, readsType},
	"capacity":         {not, false, readsType},
	"zero-accelerator": {not, false, readsType},
	"pair-slice":       {not, false, readsType},
	"interface-leg":    {not, false, readsPool},
	"pool-transport":   {not, false, readsPool},
	"member-probes":    {not, false, onlyWarns},
	"arg-typo":         {not, false, onlyWarns},
}
