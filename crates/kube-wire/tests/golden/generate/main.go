// Program golden writes what upstream's own code makes of a table of inputs, as the expected values
// of the tests in this folder: go run . ..
package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints"
	"k8s.io/apiserver/pkg/endpoints/handlers/negotiation"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
)

var codecs = func() serializer.CodecFactory {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	scheme.AddUnversionedTypes(schema.GroupVersion{Version: "v1"}, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	check(apidiscovery.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme)
}()

func main() {
	out := os.Args[1]
	for name, cases := range map[string]any{
		"status": statuses(), "request_info": requestInfos(), "accept": accepts(), "version": versions(),
		"label_selector": labelSelectors(), "field_selector": fieldSelectors(), "discovery": discovery(),
		"discovery_document": discoveryDocuments(),
	} {
		check(os.WriteFile(filepath.Join(out, name+".json"), lines(cases), 0o644))
	}
}

// lines writes a list with one entry a line, so that a change of one case is a change of one line.
func lines(cases any) []byte {
	var text bytes.Buffer
	separator := "[\n"
	list := reflect.ValueOf(cases)
	for i := range list.Len() {
		entry, err := json.Marshal(list.Index(i).Interface())
		check(err)
		text.WriteString(separator)
		text.Write(entry)
		separator = ",\n"
	}
	text.WriteString("\n]\n")
	return text.Bytes()
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

type status struct{ Name, JSON, Pretty, Protobuf string }

func statuses() (cases []status) {
	flunders := schema.GroupResource{Group: "wardle.example.com", Resource: "flunders"}
	pods := schema.GroupResource{Resource: "pods"}
	forbidden := func(verb, namespace, group, resource, subresource, name, path, reason string) *errors.StatusError {
		return responsewriters.ForbiddenStatusError(authorizer.AttributesRecord{
			User: &user.DefaultInfo{Name: "u<1>"}, Verb: verb, Namespace: namespace, APIGroup: group, Resource: resource,
			Subresource: subresource, Name: name, Path: path, ResourceRequest: resource != "",
		}, reason)
	}
	retry := errors.NewServiceUnavailable("the server for wardle.example.com/v1 refuses connections")
	retry.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 300}
	starting := errors.NewServiceUnavailable("the request has been made before all known HTTP paths have been installed, please try again")
	starting.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 5}
	_, notAcceptable := negotiation.NegotiateInputSerializerForMediaType("x/y", false, codecs)
	unsupported := notAcceptable.(errors.APIStatus).Status()
	refused := negotiation.NewNotAcceptableError([]string{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}).(errors.APIStatus).Status()
	deleted := metav1.Status{Status: metav1.StatusSuccess, Details: &metav1.StatusDetails{Name: "a", Group: "wardle.example.com", Kind: "flunders", UID: "0-1"}}
	for _, c := range []struct {
		name   string
		status metav1.Status
	}{
		{"unauthorized", errors.NewUnauthorized("Unauthorized").ErrStatus},
		{"forbidden list", forbidden("list", "default", "wardle.example.com", "flunders", "", "", "", "").ErrStatus},
		{"forbidden get with reason", forbidden("get", "", "wardle.example.com", "flunders", "status", "a&b", "", "no <way>").ErrStatus},
		{"forbidden legacy group", forbidden("watch", "kube-system", "", "pods", "", "", "", "").ErrStatus},
		{"forbidden path", forbidden("get", "", "", "", "", "", "/x", "").ErrStatus},
		{"unavailable", errors.NewServiceUnavailable("no").ErrStatus},
		{"unavailable with retry", retry.ErrStatus},
		{"starting", starting.ErrStatus},
		{"timeout", errors.NewTimeoutError("request did not complete within the allotted timeout", 0).ErrStatus},
		{"bad request", errors.NewBadRequest("what & why").ErrStatus},
		{"not acceptable", refused},
		{"unsupported media type", unsupported},
		{"too many requests", errors.NewTooManyRequests("Too many requests, please try again later.", 1).ErrStatus},
		{"not found", errors.NewNotFound(flunders, "a\"b").ErrStatus},
		{"not found legacy group", errors.NewNotFound(pods, "a").ErrStatus},
		{"already exists", errors.NewAlreadyExists(flunders, "a").ErrStatus},
		{"conflict", errors.NewConflict(flunders, "a", fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again")).ErrStatus},
		{"expired", errors.NewResourceExpired("The resourceVersion for the provided watch is too old.").ErrStatus},
		{"method not supported", errors.NewMethodNotSupported(flunders, "patch").ErrStatus},
		{"too large", errors.NewRequestEntityTooLargeError("limit is 3145728").ErrStatus},
		{"internal", errors.NewInternalError(fmt.Errorf("ups")).ErrStatus},
		{"invalid", errors.NewInvalid(schema.GroupKind{Group: "wardle.example.com", Kind: "Flunder"}, "a", field.ErrorList{field.Required(field.NewPath("spec", "url"), "no url")}).ErrStatus},
		{"invalid twice", errors.NewInvalid(schema.GroupKind{Group: "wardle.example.com", Kind: "Flunder"}, "a", field.ErrorList{
			field.Required(field.NewPath("spec", "url"), "no url"), field.Forbidden(field.NewPath("spec", "tls"), "not with http"),
		}).ErrStatus},
		{"deleted", deleted},
	} {
		entry := status{Name: c.name}
		for _, info := range codecs.SupportedMediaTypes() {
			text := encode(info.Serializer, c.status)
			switch info.MediaType {
			case runtime.ContentTypeJSON:
				entry.JSON, entry.Pretty = string(text), string(encode(info.PrettySerializer, c.status))
			case runtime.ContentTypeProtobuf:
				entry.Protobuf = hex.EncodeToString(text)
			}
		}
		cases = append(cases, entry)
	}
	return cases
}

func encode(encoder runtime.Encoder, status metav1.Status) []byte {
	status.Kind, status.APIVersion = "Status", "v1"
	var text bytes.Buffer
	check(encoder.Encode(&status, &text))
	return text.Bytes()
}

type requestInfo struct {
	Method, Path  string
	Query         string `json:",omitempty"`
	Error         string `json:",omitempty"`
	IsResource    bool   `json:",omitempty"`
	Verb          string `json:",omitempty"`
	APIPrefix     string `json:",omitempty"`
	Group         string `json:",omitempty"`
	Version       string `json:",omitempty"`
	Namespace     string `json:",omitempty"`
	Resource      string `json:",omitempty"`
	Subresource   string `json:",omitempty"`
	Name          string `json:",omitempty"`
	Decoded       string `json:",omitempty"`
	LabelSelector string `json:",omitempty"`
	FieldSelector string `json:",omitempty"`
}

func requestInfos() (cases []requestInfo) {
	factory := request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	paths := strings.Fields(`/ /api /api/ /api/v1 /api/v1/ /apis /apis/g /apis/g/v /apis/g/v/ /healthz /version/ //api/v1/pods
		/api/v1/pods /api/v1/pods/ /api//pods /api/v1//pods /api/v1/namespaces /api/v1/namespaces/n /api/v1/namespaces/n/
		/api/v1/namespaces/n/status /api/v1/namespaces/n/finalize /api/v1/namespaces/n/pods /api/v1/namespaces/n/pods/p
		/api/v1/namespaces/n/pods/p/exec /api/v1/namespaces/n/pods/p/log /api/v1/namespaces/n/services/s/proxy/a/b
		/api/v1/namespaces/n/finalize/x /api/v1/namespaces//pods /api/v1/nodes/n /api/v1/nodes/n/proxy/x
		/api/v1/watch /api/v1/watch/ /api/v1/watch/pods /api/v1/watch/pods/p /api/v1/watch/namespaces/n/pods /api/v1/watch/namespaces
		/api/v1/proxy /api/v1/proxy/namespaces/n/pods/p /api/v1/proxy/namespaces/n/pods/p/a/b /api/v1/proxy/nodes/n
		/apis/g/v/r /apis/g/v/r/n /apis/g/v/r/n/status /apis/g/v/r/n/s/t/u /apis/g/v/namespaces/n/r /apis/g/v/namespaces/n/r/x
		/apis/g/v/namespaces/n/r/x/scale /apis/g/v/watch/r /apis/g/v/watch/namespaces/n/r /apis/g/v/watch/namespaces/n/r/x
		/apis/g/v/namespaces /apis/g/v/namespaces/n /apis/g/v/na%6despaces/n/r /apis/g/v/r/a%2Fb /apis/g%2Fv/r /apis/g/v/r/%C3%A9
		/%61pis/g/v/r /apis/g/v/r/a%20b /other/g/v/r /openapi/v2 /openapi/v3/apis/g/v /debug/pprof/heap /api/v1/proxy/x
		/apis/g/v/r/watch /apis/g/v/r/proxy /apis/g/v/namespaces/n/proxy/x /api/v1/namespaces/n/watch/p /api/v1/namespaces/namespaces/namespaces
		/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p /apis/g/v/namespaces/n/r/x/proxy/a/b/c/d/e/f/g/h/i/j/k`)
	for _, path := range paths {
		for _, method := range []string{"GET", "POST", "DELETE"} {
			cases = append(cases, resolve(factory, method, path, ""))
		}
	}
	for _, method := range []string{"HEAD", "PUT", "PATCH", "OPTIONS", "CONNECT", "TRACE", "WATCH", "Foo"} {
		cases = append(cases, resolve(factory, method, "/api/v1/namespaces/n/pods/p", ""), resolve(factory, method, "/version", ""))
	}
	for _, query := range strings.Fields(`watch watch=1 watch=true watch=false watch=0 watch=FALSE watch= watch=x watch=false&watch=true
		Watch=1 wa%74ch=1 watch=%30 fieldSelector=metadata.name%3Dp fieldSelector=metadata.name==p fieldSelector=metadata.name!=p
		fieldSelector=metadata.name%3Dp%2Fq fieldSelector=metadata.name%3D.. fieldSelector=metadata.name%3D
		fieldSelector=a%3Db,metadata.name%3Dp fieldSelector=metadata.name%3Dz,metadata.name%3Da fieldSelector=a
		fieldSelector=a&watch=1 fieldSelector=metadata.name%3Dp&watch=1 fieldSelector=metadata.name%3Dp&limit=x
		fieldSelector=metadata.name%3Dp&limit=5 fieldSelector=metadata.name%3Dp&timeoutSeconds=1s labelSelector=a%3Db&fieldSelector=c%3Dd
		labelSelector=a+in+(b,c) labelSelector=a%zz labelSelector=a;watch=1 limit=5&watch=1&watch=0 fieldSelector=metadata.name%3Da%5C%2Cb
		fieldSelector=metadata.name%3Da%25b labelSelector=!!&watch=1 &&watch=1& fieldSelector=metadata.name%3Dp&labelSelector=!!`) {
		for _, method := range []string{"GET", "DELETE"} {
			for _, path := range []string{"/apis/g/v/namespaces/n/r", "/apis/g/v/r/x", "/apis/g/v/watch/r", "/version"} {
				cases = append(cases, resolve(factory, method, path, query))
			}
		}
	}
	return cases
}

func resolve(factory request.RequestInfoFactory, method, path, query string) requestInfo {
	c := requestInfo{Method: method, Path: path, Query: query}
	decoded, err := url.PathUnescape(path)
	check(err)
	info, err := factory.NewRequestInfo(&http.Request{Method: method, URL: &url.URL{Path: decoded, RawQuery: query}})
	if err != nil {
		c.Error = err.Error()
		return c
	}
	c.IsResource, c.Verb, c.APIPrefix, c.Group, c.Version = info.IsResourceRequest, info.Verb, info.APIPrefix, info.APIGroup, info.APIVersion
	c.Namespace, c.Resource, c.Subresource, c.Name, c.Decoded = info.Namespace, info.Resource, info.Subresource, info.Name, info.Path
	c.LabelSelector, c.FieldSelector = info.LabelSelector, info.FieldSelector
	return c
}

type accept struct {
	Header    string
	MediaType string
	Pretty    bool
}

func accepts() (cases []accept) {
	for _, header := range []string{
		"", "*/*", "*", "application/*", "application/json", "application/json, */*", "application/json, */*;q=0.8", "text/html",
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8", "application/yaml",
		"application/vnd.kubernetes.protobuf,application/json", "application/json,application/vnd.kubernetes.protobuf",
		"application/json;q=0.5,application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf;q=0.2,application/yaml;q=0.3",
		"application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
		"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json",
		"application/json;pretty=1", "application/json;pretty=0", "application/json;stream=watch", "application/json;stream=other",
		"application/json;sv=1,application/yaml", "application/json;charset=utf-8", "application/json;profile=nopeer", "application/json;export=1",
		" application/json ; pretty=1 ", "application/yaml , application/json", "json", "application", "application/", "application/json/x", ",", ";",
		"application/json;q=0", "*/*;q=0.1,application/yaml", "application/json;x", "application/json;x=,application/yaml", "application/json;pretty=1;pretty=0",
		"application/json;q=high,application/yaml;q=0.1", "application/*,application/yaml", "application/json;as=Table,*/*",
		"application/json;stream=watch,application/yaml;q=0.9", "application/json;as=,application/yaml",
	} {
		options, ok := negotiation.NegotiateMediaTypeOptions(header, codecs.SupportedMediaTypes(), negotiation.DefaultEndpointRestrictions)
		c := accept{Header: header, Pretty: options.Pretty}
		if ok {
			c.MediaType = options.Accepted.MediaType
		}
		cases = append(cases, c)
	}
	return cases
}

type order struct {
	A, B string
	Sign int
}

func versions() (cases []order) {
	names := strings.Fields("v1 v2 v10 v1beta1 v1beta2 v2beta1 v1alpha1 v10alpha10 v1alpha v1beta v foo1 foo10 foo2 v01 v1rc1 V1 v1beta1x 1 v99999999999999999999 v1alpha99999999999999999999 v0")
	for _, a := range names {
		for _, b := range names {
			sign := version.CompareKubeAwareVersionStrings(a, b)
			cases = append(cases, order{a, b, max(-1, min(1, sign))})
		}
	}
	return cases
}

type selection struct {
	Selector string
	Valid    bool
	Matches  []bool
}

var labelSets = []labels.Set{{}, {"a": "b"}, {"a": "c"}, {"a": ""}, {"a": "5"}, {"a": "b", "x.io/y": "z"}, {"in": "in"}, {"notin": "1"}}

func labelSelectors() (cases []selection) {
	for _, text := range []string{
		"", " ", "a", "!a", "! a", "a=b", "a==b", "a = b", "a!=b", "a=", "a!=", "a in (b)", "a in (b,c)", "a in (b, c )", "a in (,)", "a in ()", "a in b",
		"a notin (b)", "a notin (b,c),a", "a>4", "a<6", "a>x", "a>", "a,!x.io/y", "x.io/y=z", "x.io/y in (z)", "x.io/=z", "/y=z", "X.io/y=z", "a=b,", ",a=b", ",",
		"a=b,a=c", "in", "in=in", "in in (in)", "notin notin (1)", "a=in", "a=b c", "a b", "(a)", "a=(b)", "a=-b", "a=b-", "a=b.c", "a==b=c", "a===b", "!a=b",
		"a=b!", "a!b", "a=éb", "a.b-c_d", "_a", "a in (b", "a in (b,", "a notin", "a\tin\n(b)", "a= ,b",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=b", "a=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	} {
		selector, err := labels.Parse(text)
		c := selection{Selector: text, Valid: err == nil}
		for _, set := range labelSets {
			c.Matches = append(c.Matches, err == nil && selector.Matches(set))
		}
		cases = append(cases, c)
	}
	return cases
}

var fieldSets = []fields.Set{{}, {"a": "b"}, {"a": "b", "c": "d"}, {"a": "b,c"}, {"a": `b\c`}, {"a": "b=c"}}

func fieldSelectors() (cases []selection) {
	for _, text := range []string{
		"", ",", "a", "a=b", "a==b", "a!=b", "a=", "a!=", "=b", "a=b,c=d", "c=d,a=b", `a=b\,c`, `a=b\\c`, `a=b\=c`, "a=b=c", "a===b", `a=b\c`, `a=b\`, "a=b,,c=d",
		"a =b", "a= b", "a!b=c", "a!==b", `a\,b=c`, "é=b", "a=é",
	} {
		selector, err := fields.ParseSelector(text)
		c := selection{Selector: text, Valid: err == nil}
		for _, set := range fieldSets {
			c.Matches = append(c.Matches, err == nil && selector.Matches(set))
		}
		cases = append(cases, c)
	}
	return cases
}

type converted struct {
	Name       string
	Legacy     metav1.APIResourceList
	Aggregated any
	Error      bool
}

func discovery() (cases []converted) {
	all := metav1.Verbs{"get", "list"}
	qualified := func(list ...metav1.APIResource) metav1.APIResourceList {
		return metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "apps/v1", APIResources: list}
	}
	deployments := metav1.APIResource{Name: "deployments", SingularName: "deployment", Namespaced: true, Group: "apps", Version: "v1", Kind: "Deployment", Verbs: all, ShortNames: []string{"deploy"}, Categories: []string{"all"}}
	status := metav1.APIResource{Name: "deployments/status", Namespaced: true, Group: "apps", Version: "v1", Kind: "Deployment", Verbs: all}
	scale := metav1.APIResource{Name: "deployments/scale", Namespaced: true, Group: "autoscaling", Version: "v1", Kind: "Scale", Verbs: all}
	for _, c := range []converted{
		{Name: "plain", Legacy: qualified(deployments, scale, status)},
		{Name: "subresource first", Legacy: qualified(status, deployments)},
		{Name: "orphan", Legacy: qualified(scale)},
		{Name: "no kind", Legacy: qualified(deployments, metav1.APIResource{Name: "deployments/x", Namespaced: true, Verbs: all})},
		{Name: "scope", Legacy: qualified(deployments, metav1.APIResource{Name: "deployments/x", Verbs: all})},
		{Name: "nested", Legacy: qualified(deployments, metav1.APIResource{Name: "deployments/x/y", Namespaced: true, Group: "apps", Version: "v1", Kind: "K", Verbs: all})},
		{Name: "empty", Legacy: qualified()},
	} {
		aggregated, err := endpoints.ConvertGroupVersionIntoToDiscovery(c.Legacy.APIResources)
		c.Aggregated, c.Error = aggregated, err != nil
		cases = append(cases, c)
	}
	return cases
}

// document is a discovery document in every encoding.
type document struct{ Name, JSON, Pretty, YAML, Protobuf string }

func discoveryDocuments() (cases []document) {
	version := func(group, version string) metav1.GroupVersionForDiscovery {
		return metav1.GroupVersionForDiscovery{GroupVersion: group + "/" + version, Version: version}
	}
	addresses := []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: "192.0.2.1:6443"}}
	wardle := metav1.APIGroup{Name: "wardle.example.com", Versions: []metav1.GroupVersionForDiscovery{version("wardle.example.com", "v1beta1"), version("wardle.example.com", "v1")}, PreferredVersion: version("wardle.example.com", "v1beta1")}
	direct := metav1.APIGroup{Name: "a.example.com", Versions: []metav1.GroupVersionForDiscovery{version("a.example.com", "v1")}, PreferredVersion: version("a.example.com", "v1"), ServerAddressByClientCIDRs: addresses}
	kind := func(kind string) *metav1.GroupVersionKind {
		return &metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: kind}
	}
	typed := func(kind string) metav1.TypeMeta { return metav1.TypeMeta{Kind: kind, APIVersion: "v1"} }
	single := wardle
	single.TypeMeta = typed("APIGroup")
	for _, c := range []struct {
		name   string
		object runtime.Object
	}{
		{"versions", &metav1.APIVersions{TypeMeta: typed("APIVersions"), Versions: []string{"v1"}, ServerAddressByClientCIDRs: addresses}},
		{"no versions", &metav1.APIVersions{TypeMeta: typed("APIVersions"), Versions: []string{}, ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{}}},
		{"group", &single},
		{"groups", &metav1.APIGroupList{TypeMeta: typed("APIGroupList"), Groups: []metav1.APIGroup{wardle, direct}}},
		{"no groups", &metav1.APIGroupList{TypeMeta: typed("APIGroupList"), Groups: []metav1.APIGroup{}}},
		{"resources", &metav1.APIResourceList{TypeMeta: typed("APIResourceList"), GroupVersion: "apps/v1", APIResources: []metav1.APIResource{
			{Name: "deployments", SingularName: "deployment", Namespaced: true, Kind: "Deployment", Verbs: metav1.Verbs{"get", "list"}, ShortNames: []string{"deploy", "no"}, Categories: []string{"all"}, StorageVersionHash: "8aSe+NMegvE="},
			{Name: "deployments/scale", Namespaced: true, Group: "autoscaling", Version: "v1", Kind: "Scale", Verbs: metav1.Verbs{}},
			{Name: "odd \"{[,:]}\\\"", Kind: "<Odd> & 'ends'", Verbs: metav1.Verbs{"1e3", "true", "", "~", "- a", "a: b", "#"}},
		}}},
		{"no resources", &metav1.APIResourceList{TypeMeta: typed("APIResourceList"), GroupVersion: "v1", APIResources: []metav1.APIResource{}}},
		{"aggregated", &apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}, Items: []apidiscovery.APIGroupDiscovery{
			{ObjectMeta: metav1.ObjectMeta{Name: "apps"}, Versions: []apidiscovery.APIVersionDiscovery{
				{Version: "v1", Freshness: apidiscovery.DiscoveryFreshnessCurrent, Resources: []apidiscovery.APIResourceDiscovery{
					{Resource: "deployments", ResponseKind: kind("Deployment"), Scope: apidiscovery.ScopeNamespace, SingularResource: "deployment", Verbs: []string{"get", "list"}, ShortNames: []string{"deploy"}, Categories: []string{"all"}, Subresources: []apidiscovery.APISubresourceDiscovery{
						{Subresource: "status", ResponseKind: kind("Deployment"), Verbs: []string{"get"}},
						{Subresource: "scale", ResponseKind: &metav1.GroupVersionKind{}, AcceptedTypes: []metav1.GroupVersionKind{*kind("Scale")}, Verbs: []string{}},
					}},
					{Resource: "nodes", Scope: apidiscovery.ScopeCluster, Verbs: []string{"get"}},
				}},
				{Version: "v1beta1", Freshness: apidiscovery.DiscoveryFreshnessStale},
			}},
			{},
		}}},
		{"aggregated, nothing", &apidiscovery.APIGroupDiscoveryList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"}, Items: []apidiscovery.APIGroupDiscovery{}}},
	} {
		entry := document{Name: c.name}
		for _, info := range codecs.SupportedMediaTypes() {
			var text, pretty bytes.Buffer
			check(info.Serializer.Encode(c.object, &text))
			switch info.MediaType {
			case runtime.ContentTypeJSON:
				check(info.PrettySerializer.Encode(c.object, &pretty))
				entry.JSON, entry.Pretty = text.String(), pretty.String()
			case runtime.ContentTypeYAML:
				entry.YAML = text.String()
			case runtime.ContentTypeProtobuf:
				entry.Protobuf = hex.EncodeToString(text.Bytes())
			}
		}
		cases = append(cases, entry)
	}
	return cases
}
