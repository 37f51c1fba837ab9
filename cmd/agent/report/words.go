// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// verdict is what a condition says.
type verdict struct {
	status          metav1.ConditionStatus
	reason, message string
}

func is(status metav1.ConditionStatus, reason, format string, args ...any) *verdict {
	return &verdict{status, reason, fmt.Sprintf(format, args...)}
}

func yes(reason, format string, args ...any) *verdict {
	return is(metav1.ConditionTrue, reason, format, args...)
}

func no(reason, format string, args ...any) *verdict {
	return is(metav1.ConditionFalse, reason, format, args...)
}

func unknown(reason, format string, args ...any) *verdict {
	return is(metav1.ConditionUnknown, reason, format, args...)
}

// rule is one row of a condition: what it says, or nil when it does not apply.
type rule func(*state) *verdict

// first returns what the first rule says that applies. The last one always does.
func first(s *state, rules ...rule) verdict {
	for _, r := range rules {
		if v := r(s); v != nil {
			return *v
		}
	}
	panic("no rule applies")
}

const (
	// messageLimit keeps a message below what an API server takes, and a status
	// with many of them small.
	messageLimit = 4096
	// quoteLimit is for what others say.
	quoteLimit = 512
	// most is how many things of a kind a message names.
	most = 10
)

// cut shortens a text at the end of a character.
func cut(text string, limit int) string {
	const more = "..."
	if len(text) <= limit {
		return text
	}
	text = text[:limit-len(more)]
	for len(text) > 0 && !utf8.ValidString(text[max(0, len(text)-utf8.UTFMax):]) {
		text = text[:len(text)-1]
	}
	return text + more
}

// few names the first of some things and tells how many there are beside.
func few(names []string, separator string) string {
	if len(names) <= most {
		return strings.Join(names, separator)
	}
	return fmt.Sprintf("%s%sand %d more", strings.Join(names[:most], separator), separator, len(names)-most)
}

// count is a number of things, in words that fit it.
func count[N int | int32](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// rolesOf names the roles of some replicas, in order, each once.
func rolesOf(replicas []*replica) string {
	var names []string
	for _, r := range replicas {
		if !slices.Contains(names, r.role.Name) {
			names = append(names, r.role.Name)
		}
	}
	return rolesNamed(names)
}

func rolesNamed(names []string) string {
	switch len(names) {
	case 0:
		return "no role"
	case 1:
		return "role " + names[0]
	}
	return "roles " + strings.Join(names, ", ")
}

// slots names replicas by role and ordinal.
func slots(replicas []*replica) string {
	var parts []string
	for i := 0; i < len(replicas); {
		role := replicas[i].role
		var ordinals []string
		for ; i < len(replicas) && replicas[i].role == role; i++ {
			ordinals = append(ordinals, strconv.Itoa(int(replicas[i].ordinal)))
		}
		word := "replicas"
		if len(ordinals) == 1 {
			word = "replica"
		}
		parts = append(parts, fmt.Sprintf("role %s %s %s", role.Name, word, few(ordinals, ", ")))
	}
	return strings.Join(parts, "; ")
}
