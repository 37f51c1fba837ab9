// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package router

import (
	corev1 "k8s.io/api/core/v1"

	v1 "gpustack.ai/mdc/compiler/api/v1"
)

// program is how one router is run. One image carries all of them on its PATH
// and has no entrypoint.
type program struct {
	command string
	// args is the command line up to the user's own arguments.
	args func(Input) []string
	// data is the content of the ConfigMap; nil for a router that is configured
	// by its arguments alone.
	data func(Input) map[string]string
	// pod completes the container of the program and puts what else it needs
	// around it.
	pod func(in Input, main corev1.Container) corev1.PodSpec
}

var programs = map[v1.RouterName]program{
	v1.RouterLLMD: {
		command: "epp",
		args:    pickerArgs,
		data:    pickerData,
		pod:     pickerPod,
	},
	v1.RouterVLLM: {
		command: "vllm-router",
		args: discovery{
			// Its default is another connector than the one the roles are given.
			own:   []string{"--kv-connector=mooncake"},
			split: "--vllm-pd-disaggregation",
		}.args,
		pod: plainPod,
	},
	v1.RouterSGLang: {
		command: "sgl-model-gateway",
		args:    discovery{split: "--pd-disaggregation"}.args,
		pod:     plainPod,
	},
}
