// Command upgrade-server is an API server whose pods answer exec, attach, port-forward and log.
//
// It is put together from upstream's own parts, as kube-apiserver and kubelet are: the front half
// translates WebSocket requests (StreamTranslatorHandler, TunnelingHandler), the back half is the
// streaming server that container runtimes use, spoken to over SPDY on a loopback port. There is no
// container behind it: commands are functions of this program (commands.go).
package main

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to serve on; the address taken is printed on standard output")
	cert := flag.String("tls-cert-file", "", "serving certificate, PEM")
	key := flag.String("tls-private-key-file", "", "serving key, PEM")
	clientCA := flag.String("requestheader-client-ca-file", "", "CA of the front proxy; when set, only its certificate may bring X-Remote-User")
	flag.Parse()
	if err := run(*listen, *cert, *key, *clientCA); err != nil {
		log.Fatal(err)
	}
}

func run(listen, cert, key, clientCA string) error {
	runtimeURL, err := startRuntime()
	if err != nil {
		return fmt.Errorf("starting the runtime half: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("serving certificate: %w", err)
	}
	config := &tls.Config{
		Certificates: []tls.Certificate{pair},
		// Upgrades need HTTP/1.1; the rest may come over either.
		NextProtos: []string{"h2", "http/1.1"},
	}
	if clientCA != "" {
		pem, err := os.ReadFile(clientCA)
		if err != nil {
			return err
		}
		config.ClientCAs = x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("%s: no certificate in it", clientCA)
		}
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	server := &http.Server{
		Handler:           identified(clientCA != "", newAPI(runtimeURL)),
		TLSConfig:         config,
		ReadHeaderTimeout: 30 * time.Second,
	}
	return server.ServeTLS(listener, "", "")
}

// identified lets through who the front proxy vouches for; without a front proxy CA, everybody.
func identified(required bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		vouched := r.TLS != nil && len(r.TLS.VerifiedChains) > 0 && r.Header.Get("X-Remote-User") != ""
		if required && !vouched {
			writeStatus(w, http.StatusUnauthorized, "Unauthorized", "Unauthorized")
			return
		}
		next.ServeHTTP(w, r)
	})
}
