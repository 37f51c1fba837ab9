package argv

import "strconv"

// Flags that decide the address, in the order abbreviations are tried.
const (
	sslCertfile = "--ssl-certfile"
	sslKeyfile  = "--ssl-keyfile"
	sslCertReqs = "--ssl-cert-reqs"
)

// listenKeys differ by one flag: SGLang cannot ask for client certificates.
var listenKeys = map[Engine][]string{
	VLLM:   {FlagHost, FlagPort, sslCertfile, sslKeyfile, sslCertReqs},
	SGLang: {FlagHost, FlagPort, sslCertfile, sslKeyfile},
}

// Listen is what a command line says about where its engine listens.
type Listen struct {
	// HostStated: the address is chosen by the line, and known to nobody else.
	HostStated bool
	Port       Port
	// TLS: the engine serves HTTPS, because a certificate or a key is given.
	// The other --ssl flags do not switch it on.
	TLS bool
	// ClientCertificate: HTTPS, and the engine may turn away a caller that
	// shows no certificate.
	ClientCertificate bool
}

// Port is the listening port a command line asks for. The last of several
// counts, even if it cannot be read.
type Port struct {
	// Stated: some token spells the flag.
	Stated bool
	// Readable: the value is an integer from 1 to 65535. Otherwise the line
	// counts as asking for no port.
	Readable bool
	// Number is the port, 0 unless Readable.
	Number int32
	// Index is the token with the flag, -1 unless Stated. Text is its value as
	// written, empty when there is none.
	Index int
	Text  string
}

// String is how a message quotes the port: "--port=N".
func (p Port) String() string {
	if p.Readable {
		return FlagPort + "=" + strconv.Itoa(int(p.Number))
	}
	return FlagPort + "=" + p.Text
}

// ReadListen reads where the engine listens off its command line.
func ReadListen(engine Engine, args []string) Listen {
	listen := Listen{Port: Port{Index: -1}}
	anonymous := true
	for i, token := range args {
		key, _ := Resolve(engine, token, listenKeys[engine])
		switch key {
		case FlagHost:
			listen.HostStated = true
		case FlagPort:
			listen.Port = portAt(args, i)
		case sslCertfile, sslKeyfile:
			listen.TLS = true
		case sslCertReqs:
			anonymous = admitsAnonymous(args, i)
		}
	}
	listen.ClientCertificate = listen.TLS && !anonymous
	return listen
}

func portAt(args []string, i int) Port {
	text, _ := valueAt(args, i)
	port := Port{Stated: true, Index: i, Text: text}
	if n, err := integer(text); err == nil && n >= 1 && n <= 65535 {
		port.Readable, port.Number = true, int32(n)
	}
	return port
}

// admitsAnonymous: the value is a constant of Python's ssl module. CERT_NONE
// (0) and CERT_OPTIONAL (1) let a caller in without a certificate; anything
// else, a value that is missing or unreadable included, may not.
func admitsAnonymous(args []string, i int) bool {
	text, _ := valueAt(args, i)
	n, err := integer(text)
	return err == nil && (n == 0 || n == 1)
}
