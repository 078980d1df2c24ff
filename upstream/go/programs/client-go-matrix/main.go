// Command client-go-matrix puts an API server through what controllers written in Go do: discovery,
// OpenAPI, dynamic create, get, merge patch, server-side apply and delete, each seen by an informer, and
// a request on behalf of somebody else. It prints one line a step and fails at the first that is wrong.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

var flunders = schema.GroupVersionResource{Group: "wardle.example.com", Version: "v1alpha1", Resource: "flunders"}

func main() {
	namespace := flag.String("namespace", "default", "where objects are made")
	name := flag.String("name", "client-go", "name of the object")
	nobody := flag.String("as", "nobody", "a user without rights")
	flag.Parse()

	// $KUBECONFIG, as kubectl finds it.
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	m := matrix{config: config, namespace: *namespace, name: *name, nobody: *nobody}
	for _, step := range m.steps() {
		if err := step.run(ctx); err != nil {
			log.Fatalf("%s: %v", step.name, err)
		}
		fmt.Printf("ok %s\n", step.name)
	}
}

type matrix struct {
	config                  *rest.Config
	namespace, name, nobody string
}

type step struct {
	name string
	run  func(context.Context) error
}

func (m matrix) steps() []step {
	return []step{
		{"api-resources", m.apiResources},
		{"explain", m.explain},
		{"as", m.as},
		{"watch", m.watch},
	}
}

func (m matrix) client() (dynamic.ResourceInterface, error) {
	client, err := dynamic.NewForConfig(m.config)
	if err != nil {
		return nil, err
	}
	return client.Resource(flunders).Namespace(m.namespace), nil
}

func (m matrix) apiResources(context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(m.config)
	if err != nil {
		return err
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		return err
	}
	for _, list := range lists {
		if list.GroupVersion != flunders.GroupVersion().String() {
			continue
		}
		if slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == flunders.Resource && r.Namespaced }) {
			return nil
		}
	}
	return fmt.Errorf("%s is not in discovery", flunders)
}

func (m matrix) explain(context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(m.config)
	if err != nil {
		return err
	}
	paths, err := client.OpenAPIV3().Paths()
	if err != nil {
		return err
	}
	document, ok := paths["apis/"+flunders.GroupVersion().String()]
	if !ok {
		return fmt.Errorf("no OpenAPI document for %s", flunders.GroupVersion())
	}
	body, err := document.Schema("application/json")
	if err != nil {
		return err
	}
	if len(body) < 1000 {
		return fmt.Errorf("the OpenAPI document has %d bytes", len(body))
	}
	return nil
}

// watch lets an informer run while the object changes, and wants to see each change.
func (m matrix) watch(ctx context.Context) error {
	client, err := dynamic.NewForConfig(m.config)
	if err != nil {
		return err
	}
	events := make(chan string, 64)
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, m.namespace, nil)
	informer := factory.ForResource(flunders).Informer()
	tell := func(kind string) func(any) {
		return func(object any) {
			if o, ok := object.(*unstructured.Unstructured); ok && o.GetName() == m.name {
				events <- kind + " " + o.GetLabels()["step"]
			}
		}
	}
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    tell("added"),
		UpdateFunc: func(_, object any) { tell("updated")(object) },
		DeleteFunc: tell("deleted"),
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return fmt.Errorf("the informer does not synchronise")
	}
	for _, change := range m.changes() {
		if err := change.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", change.name, err)
		}
		select {
		case event := <-events:
			if event != change.seen {
				return fmt.Errorf("the informer saw %q instead of %q", event, change.seen)
			}
			fmt.Printf("ok %s\n", change.name)
		case <-time.After(30 * time.Second):
			return fmt.Errorf("the informer saw nothing of %q", change.name)
		}
	}
	return nil
}

type change struct {
	step
	// What the informer sees of it: the kind of event, and the label of the object.
	seen string
}

func (m matrix) changes() []change {
	return []change{
		{step{"create", m.create}, "added create"},
		{step{"patch", m.patch}, "updated patch"},
		{step{"apply", m.apply}, "updated apply"},
		{step{"delete", m.delete}, "deleted apply"},
	}
}

func (m matrix) object(step string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": flunders.GroupVersion().String(), "kind": "Flunder",
		"metadata": map[string]any{"name": m.name, "labels": map[string]any{"step": step}},
		"spec":     map[string]any{"reference": m.name},
	}}
}

func (m matrix) create(ctx context.Context) error {
	client, err := m.client()
	if err != nil {
		return err
	}
	created, err := client.Create(ctx, m.object("create"), metav1.CreateOptions{FieldManager: "matrix"})
	if err != nil {
		return err
	}
	got, err := client.Get(ctx, m.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if created.GetUID() == "" || got.GetUID() != created.GetUID() {
		return fmt.Errorf("created %q, got %q", created.GetUID(), got.GetUID())
	}
	fmt.Println("ok get")
	return nil
}

func (m matrix) patch(ctx context.Context) error {
	client, err := m.client()
	if err != nil {
		return err
	}
	patch := []byte(`{"metadata":{"labels":{"step":"patch"}}}`)
	_, err = client.Patch(ctx, m.name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "matrix"})
	return err
}

func (m matrix) apply(ctx context.Context) error {
	client, err := m.client()
	if err != nil {
		return err
	}
	_, err = client.Apply(ctx, m.name, m.object("apply"), metav1.ApplyOptions{FieldManager: "applier", Force: true})
	return err
}

// as asks in somebody else's name, who may not.
func (m matrix) as(ctx context.Context) error {
	config := rest.CopyConfig(m.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: m.nobody}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	_, err = client.Resource(flunders).Namespace(m.namespace).List(ctx, metav1.ListOptions{})
	if !apierrors.IsForbidden(err) {
		return fmt.Errorf("%s was not forbidden: %v", m.nobody, err)
	}
	return nil
}

func (m matrix) delete(ctx context.Context) error {
	client, err := m.client()
	if err != nil {
		return err
	}
	if err := client.Delete(ctx, m.name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	if _, err := client.Get(ctx, m.name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return fmt.Errorf("it is still there: %v", err)
	}
	return nil
}
