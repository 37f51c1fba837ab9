// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"time"

	"gpustack.ai/mdc/cmd/agent/report"
)

const (
	// patience is how long an engine may take to answer.
	patience = 2 * time.Second
	// bodyLimit is how much of an answer is read.
	bodyLimit = 8 << 20
)

// HTTP asks engines for their metrics.
type HTTP struct{ client http.Client }

// NewHTTP returns an Asker. It sends nothing secret and believes nothing but a
// number, so that it does not ask for the certificate of an engine, which is not
// made for the address of a Pod.
func NewHTTP() *HTTP {
	return &HTTP{http.Client{
		Timeout: patience,
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
			DisableKeepAlives: true,
		},
		// An engine that sends its caller elsewhere is not asked.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Ask reads the metrics of one engine.
func (h *HTTP) Ask(ctx context.Context, url string) report.Evidence {
	e, err := h.ask(ctx, url)
	if err != nil {
		return report.Unreadable
	}
	return e
}

func (h *HTTP) ask(ctx context.Context, url string) (report.Evidence, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return report.Unreadable, err
	}
	req.Header.Set("Accept", "text/plain;version=0.0.4")
	res, err := h.client.Do(req)
	if err != nil {
		return report.Unreadable, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return report.Unreadable, fmt.Errorf("status %d", res.StatusCode)
	}
	return Read(io.LimitReader(res.Body, bodyLimit))
}
