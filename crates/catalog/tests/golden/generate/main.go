// Program golden writes what gnostic makes of ../swagger.json, the protobuf in which kubectl reads
// Swagger, as the expected value of a test: go run . ../swagger.json ../swagger.pb
//
// Values of any type, which gnostic keeps as YAML in block style, are written as JSON in one line.
package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	check(err)
	document, err := openapi_v2.ParseDocument(text)
	check(err)
	oneLine(document.ProtoReflect())
	encoded, err := proto.MarshalOptions{Deterministic: true}.Marshal(document)
	check(err)
	check(os.WriteFile(os.Args[2], encoded, 0o644))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func oneLine(message protoreflect.Message) {
	if value, ok := message.Interface().(*openapi_v2.Any); ok {
		var content any
		check(yaml.Unmarshal([]byte(value.Yaml), &content))
		var text bytes.Buffer
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		check(encoder.Encode(content))
		// YAML wants it escaped, which Go's JSON does not do.
		value.Yaml = strings.ReplaceAll(text.String(), "\x7f", `\u007f`)
		return
	}
	message.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil:
		case field.IsList():
			for i := range value.List().Len() {
				oneLine(value.List().Get(i).Message())
			}
		default:
			oneLine(value.Message())
		}
		return true
	})
}
