// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"encoding/json"
	"io"
	"net/url"
	"path"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

// RuleDoc documents a rule.
type RuleDoc struct {
	// Summary is one line, Description a paragraph, Help the whole page as Markdown.
	Summary, Description, Help string
	// Severity of the rule's findings, unless they are made errors.
	Severity Severity
}

// SARIF prints findings in the Static Analysis Results Interchange Format 2.1.0,
// which code scanning services read.
type SARIF struct {
	// Version of the program.
	Version string
	// Doc documents a rule; only rules with findings are looked up.
	Doc func(rule string) RuleDoc
	// Line returns the source line of a position; columns are counted in
	// characters there. nil leaves them in bytes.
	Line func(Position) (string, bool)
}

// Print writes one run.
func (s SARIF) Print(w io.Writer, l List) error {
	driver := sarif.NewToolComponent().WithName("mdc").WithVersion(s.Version)
	run := sarif.NewRun().WithTool(sarif.NewTool().WithDriver(driver)).WithColumnKind("unicodeCodePoints")
	index := map[string]int{}
	for _, f := range l {
		if _, known := index[f.Rule]; !known {
			index[f.Rule] = len(driver.Rules)
			driver.AddRule(rule(f.Rule, s.Doc(f.Rule)))
		}
		run.AddResult(s.result(f).WithRuleIndex(index[f.Rule]))
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(sarif.NewReport().AddRun(run))
}

func rule(slug string, doc RuleDoc) *sarif.ReportingDescriptor {
	return sarif.NewRule(slug).
		WithShortDescription(sarif.NewMultiformatMessageString().WithText(doc.Summary)).
		WithFullDescription(sarif.NewMultiformatMessageString().WithText(doc.Description)).
		WithHelp(sarif.NewMultiformatMessageString().WithText(doc.Help).WithMarkdown(doc.Help)).
		WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(level(doc.Severity)))
}

func level(s Severity) string {
	if s == Warning {
		return sarif.LevelWarning
	}
	return sarif.LevelError
}

func (s SARIF) result(f Finding) *sarif.Result {
	r := sarif.NewRuleResult(f.Rule).WithLevel(level(f.Severity)).WithMessage(sarif.NewTextMessage(f.sentence()))
	at := sarif.NewLocation()
	if p := f.Position; p.isFile() {
		place := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewArtifactLocation().WithURI(uri(p.File)))
		if p.Line > 0 {
			region := sarif.NewRegion().WithStartLine(p.Line)
			if column := p.character(s.Line); column > 0 {
				region.WithStartColumn(column)
			}
			place.WithRegion(region)
		}
		at.WithPhysicalLocation(place)
	}
	at.WithLogicalLocations(logical(f))
	if at.PhysicalLocation != nil || len(at.LogicalLocations) > 0 {
		r.AddLocation(at)
	}
	return r
}

// logical names the object and the field.
func logical(f Finding) []*sarif.LogicalLocation {
	out := []*sarif.LogicalLocation{}
	object := strings.TrimPrefix(f.Namespace+"/"+f.Name, "/")
	if f.Name != "" {
		out = append(out, sarif.NewLogicalLocation().WithKind("object").WithName(f.Name).WithFullyQualifiedName(object))
	}
	if f.Field != "" {
		out = append(out, sarif.NewLogicalLocation().WithKind("property").WithName(f.Field).
			WithFullyQualifiedName(strings.TrimPrefix(object+"/"+f.Field, "/")))
	}
	return out
}

// uri is a file as a reference relative to where mdc ran; an absolute file is
// absolute.
func uri(file string) string {
	u := url.URL{Path: path.Clean(strings.ReplaceAll(file, "\\", "/"))}
	if path.IsAbs(u.Path) {
		u.Scheme = "file"
		return u.String()
	}
	// A colon in the first element would end a scheme.
	return strings.ReplaceAll(u.EscapedPath(), ":", "%3A")
}
