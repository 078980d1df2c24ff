package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
)

const (
	idleTimeout     = 4 * time.Hour
	creationTimeout = remotecommand.DefaultStreamCreationTimeout
)

// startRuntime serves the streaming endpoints of a container runtime on a loopback port.
func startRuntime() (*url.URL, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/exec", func(w http.ResponseWriter, r *http.Request) {
		options, err := remotecommand.NewOptions(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		container := container{caller: r.URL.Query().Get("caller")}
		remotecommand.ServeExec(w, r, container, "", "", "main", r.URL.Query()["command"], options,
			idleTimeout, creationTimeout, remotecommand.SupportedStreamingProtocols)
	})
	mux.HandleFunc("/attach", func(w http.ResponseWriter, r *http.Request) {
		options, err := remotecommand.NewOptions(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		remotecommand.ServeAttach(w, r, container{}, "", "", "main", options,
			idleTimeout, creationTimeout, remotecommand.SupportedStreamingProtocols)
	})
	mux.HandleFunc("/portforward", func(w http.ResponseWriter, r *http.Request) {
		options, err := portforward.NewV4Options(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		portforward.ServePortForward(w, r, container{}, "", "", options,
			idleTimeout, creationTimeout, portforward.SupportedProtocols)
	})
	go func() { log.Fatal(http.Serve(listener, mux)) }()
	return &url.URL{Scheme: "http", Host: listener.Addr().String()}, nil
}

// container answers what a container would.
type container struct {
	caller string
}

// ExecInContainer runs one of the commands of this program.
func (c container) ExecInContainer(_ context.Context, _, _, _ string, cmd []string, in io.Reader, out, errOut io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if in == nil {
		in = eof{}
	}
	return runCommand(c.caller, cmd, in, orDiscard(out), orDiscard(errOut))
}

// AttachContainer echoes, as an attached `cat` would.
func (container) AttachContainer(_ context.Context, _, _, _ string, in io.Reader, out, _ io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize) error {
	if in == nil {
		_, err := fmt.Fprintln(orDiscard(out), "attached")
		return err
	}
	_, err := io.Copy(orDiscard(out), in)
	return err
}

// PortForward serves the ports 7 (echo), 8 (reads to the end, then answers with the hash) and 9 (sends
// 100 MiB, then its hash is known to the client); nothing listens on any other.
func (container) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	switch port {
	case 7:
		_, err := io.Copy(stream, stream)
		return err
	case 8:
		return writeHash(stream, stream)
	case 9:
		return writePattern(stream, 100<<20)
	default:
		return fmt.Errorf("nothing listens on port %d", port)
	}
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }
