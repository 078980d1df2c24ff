package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/proxy"
	translator "k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// Pods there are: one that answers, one that nobody may enter.
const (
	openPod   = "shell"
	closedPod = "forbidden"
)

// newAPI serves discovery, two pods and their subresources.
func newAPI(runtime *url.URL) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /version", serve(map[string]string{
		"major": "1", "minor": "37", "gitVersion": "v1.37.2", "gitCommit": "", "gitTreeState": "clean",
		"buildDate": "2026-01-01T00:00:00Z", "goVersion": "go1.26", "compiler": "gc", "platform": "linux/amd64",
	}))
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	}
	mux.HandleFunc("GET /api", serve(metav1.APIVersions{
		TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"},
	}))
	mux.HandleFunc("GET /apis", serve(metav1.APIGroupList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{},
	}))
	mux.HandleFunc("GET /api/v1", serve(resources()))
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/pods", func(w http.ResponseWriter, r *http.Request) {
		namespace := r.PathValue("namespace")
		writeJSON(w, http.StatusOK, corev1.PodList{
			TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"},
			ListMeta: metav1.ListMeta{ResourceVersion: "1"},
			Items:    []corev1.Pod{pod(namespace, openPod), pod(namespace, closedPod)},
		})
	})
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/pods/{name}", withPod(func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, pod(r.PathValue("namespace"), r.PathValue("name")))
	}))
	mux.HandleFunc("GET /api/v1/namespaces/{namespace}/pods/{name}/log", entered(serveLog))
	for _, verb := range []string{"exec", "attach", "portforward"} {
		mux.HandleFunc("/api/v1/namespaces/{namespace}/pods/{name}/"+verb, entered(upgrade(runtime, verb)))
	}
	return mux
}

// withPod answers 404 for pods that there are not.
func withPod(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name := r.PathValue("name")
		if name != openPod && name != closedPod {
			writeStatus(w, http.StatusNotFound, "NotFound", fmt.Sprintf("pods %q not found", name))
			return
		}
		next(w, r)
	}
}

// entered refuses the closed pod, with a text that a client must show as it is.
func entered(next http.HandlerFunc) http.HandlerFunc {
	return withPod(func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("name") == closedPod {
			writeStatus(w, http.StatusForbidden, "Forbidden", "nobody enters this pod: the server itself says so")
			return
		}
		next(w, r)
	})
}

// upgrade forwards to the runtime half, as kube-apiserver does to a kubelet.
func upgrade(runtime *url.URL, verb string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		query := runtimeQuery(r.URL.Query())
		query.Set("caller", caller(r))
		location := *runtime
		location.Path = "/" + verb
		location.RawQuery = query.Encode()

		var handler http.Handler = proxy.NewUpgradeAwareHandler(&location, http.DefaultTransport, false, true, responder{})
		if verb == "portforward" {
			tunnel := translator.NewTunnelingHandler(handler)
			handler = translator.NewTranslatingHandler(handler, tunnel, wsstream.IsWebSocketRequestWithTunnelingProtocol)
		} else {
			streams := translator.Options{
				Stdin: query.Has("input"), Stdout: query.Has("output"), Stderr: query.Has("error"), Tty: query.Has("tty"),
			}
			translate := translator.NewStreamTranslatorHandler(&location, http.DefaultTransport, 0, streams)
			handler = translator.NewTranslatingHandler(handler, translate, wsstream.IsWebSocketRequestWithStreamCloseProtocol)
		}
		handler.ServeHTTP(w, r)
	}
}

// runtimeQuery turns the query of PodExecOptions into the one that the streaming server reads.
func runtimeQuery(options url.Values) url.Values {
	query := url.Values{"command": options["command"]}
	for from, to := range map[string]string{"stdin": "input", "stdout": "output", "stderr": "error", "tty": "tty"} {
		if wanted, err := strconv.ParseBool(options.Get(from)); err == nil && wanted {
			query.Set(to, "1")
		}
	}
	if ports := options["ports"]; len(ports) > 0 {
		query["port"] = ports
	}
	return query
}

// caller is who the front proxy says it is: user and groups, comma-separated.
func caller(r *http.Request) string {
	return strings.Join(append([]string{r.Header.Get("X-Remote-User")}, r.Header.Values("X-Remote-Group")...), ",")
}

// serveLog writes numbered lines; with ?follow=true ten a second, each flushed, until the client goes.
func serveLog(w http.ResponseWriter, r *http.Request) {
	follow, _ := strconv.ParseBool(r.URL.Query().Get("follow"))
	lines := 10
	if tail, err := strconv.Atoi(r.URL.Query().Get("tailLines")); err == nil {
		lines = tail
	}
	w.Header().Set("Content-Type", "text/plain")
	for i := 1; follow || i <= lines; i++ {
		if _, err := fmt.Fprintf(w, "line %d\n", i); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		if !follow {
			continue
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func pod(namespace, name string) corev1.Pod {
	return corev1.Pod{
		TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: namespace, UID: "00000000-0000-4000-8000-000000000001", ResourceVersion: "1",
		},
		Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "main", Image: "none", Stdin: true}}},
		Status: corev1.PodStatus{
			Phase:             corev1.PodRunning,
			ContainerStatuses: []corev1.ContainerStatus{{Name: "main", Ready: true}},
		},
	}
}

func resources() metav1.APIResourceList {
	list := metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1",
		APIResources: []metav1.APIResource{{
			Name: "pods", SingularName: "pod", Namespaced: true, Kind: "Pod", Verbs: []string{"get", "list"}, ShortNames: []string{"po"},
		}},
	}
	kinds := map[string]string{"exec": "PodExecOptions", "attach": "PodAttachOptions", "portforward": "PodPortForwardOptions"}
	for _, name := range []string{"attach", "exec", "portforward"} {
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: "pods/" + name, Namespaced: true, Kind: kinds[name], Verbs: []string{"create", "get"},
		})
	}
	list.APIResources = append(list.APIResources, metav1.APIResource{
		Name: "pods/log", Namespaced: true, Kind: "Pod", Verbs: []string{"get"},
	})
	return list
}

// responder carries errors of the upgrade to the client.
type responder struct{}

func (responder) Error(w http.ResponseWriter, _ *http.Request, err error) {
	writeStatus(w, http.StatusInternalServerError, "InternalError", err.Error())
}

func serve(value any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, value) }
}

func writeStatus(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	writeJSON(w, code, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"},
		Status:   metav1.StatusFailure, Reason: reason, Message: message, Code: int32(code),
	})
}

func writeJSON(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(value)
}
