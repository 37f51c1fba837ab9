// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package facts

import "strconv"

// SettingName is the name of a platform-wide Setting that a compile reads.
type SettingName string

// The Settings, as the GPUStack operator names them.
const (
	// SettingKVCacheDtypeOwned renders --kv-cache-dtype from the Binding and
	// refuses it in extraArgs.
	SettingKVCacheDtypeOwned SettingName = "model-deployment-kv-cache-dtype-owned"
	// SettingResourcesOvercommit requests less CPU, memory and storage than the
	// limits.
	SettingResourcesOvercommit SettingName = "instance-general-resources-overcommit"
	// SettingPrivilegedAllowed allows privileged roles.
	SettingPrivilegedAllowed SettingName = "instance-privileged-allowed"
	// SettingHostPathAllowed allows hostPath volumes.
	SettingHostPathAllowed SettingName = "instance-host-path-volume-allowed"
)

var settingDefaults = map[SettingName]string{
	SettingKVCacheDtypeOwned:   "true",
	SettingResourcesOvercommit: "false",
	SettingPrivilegedAllowed:   "false",
	SettingHostPathAllowed:     "false",
}

// Setting returns the value of a Setting: that of the overrides, else of the
// facts, else its default.
func (x *Index) Setting(name SettingName) string {
	if v, ok := x.overrides[string(name)]; ok {
		return v
	}
	if f, ok := x.settings.get("", string(name)); ok {
		return f.Value.Spec.Value
	}
	return settingDefaults[name]
}

// Enabled returns a boolean Setting. A value that is no boolean counts as the
// default.
func (x *Index) Enabled(name SettingName) bool {
	if b, err := strconv.ParseBool(x.Setting(name)); err == nil {
		return b
	}
	return settingDefaults[name] == "true"
}
