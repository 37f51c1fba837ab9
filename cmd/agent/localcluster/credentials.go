// Copyright The mdc Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package localcluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// credentials of one cluster; they die with it.
type credentials struct {
	ca                        []byte
	caFile, certFile, keyFile string
	accountKeyFile            string
	tokenFile, token          string
}

func newCredentials(dir string) (*credentials, error) {
	c := &credentials{
		caFile:         filepath.Join(dir, "ca.crt"),
		certFile:       filepath.Join(dir, "server.crt"),
		keyFile:        filepath.Join(dir, "server.key"),
		accountKeyFile: filepath.Join(dir, "service-account.key"),
		tokenFile:      filepath.Join(dir, "tokens.csv"),
		token:          rand.Text(),
	}
	now := time.Now()
	authority := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "mdc local cluster"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(24 * time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	server := &x509.Certificate{
		SerialNumber: big.NewInt(2),
		Subject:      pkix.Name{CommonName: "localhost"},
		NotBefore:    authority.NotBefore,
		NotAfter:     authority.NotAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		DNSNames:     []string{"localhost"},
	}
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serverKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	accountKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	ca, err := x509.CreateCertificate(rand.Reader, authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return nil, err
	}
	cert, err := x509.CreateCertificate(rand.Reader, server, authority, serverKey.Public(), authorityKey)
	if err != nil {
		return nil, err
	}
	serverKeyBytes, err := x509.MarshalPKCS8PrivateKey(serverKey)
	if err != nil {
		return nil, err
	}
	c.ca = encode("CERTIFICATE", ca)
	for file, text := range map[string][]byte{
		c.caFile:         c.ca,
		c.certFile:       encode("CERTIFICATE", cert),
		c.keyFile:        encode("PRIVATE KEY", serverKeyBytes),
		c.accountKeyFile: encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(accountKey)),
		c.tokenFile:      []byte(c.token + ",admin,admin,system:masters\n"),
	} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func encode(kind string, b []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b})
}
