module github.com/infer-prep/infer-prep/store/hdfs

go 1.26.0

replace github.com/infer-prep/infer-prep => ../..

require (
	github.com/colinmarc/hdfs/v2 v2.4.0
	github.com/infer-prep/infer-prep v0.0.0-00010101000000-000000000000
	github.com/jcmturner/gokrb5/v8 v8.4.4
	github.com/stretchr/testify v1.12.1
	go.uber.org/goleak v1.3.0
)

require (
	github.com/hashicorp/go-uuid v1.0.3 // indirect
	github.com/jcmturner/aescts/v2 v2.0.0 // indirect
	github.com/jcmturner/dnsutils/v2 v2.0.0 // indirect
	github.com/jcmturner/gofork v1.7.6 // indirect
	github.com/jcmturner/goidentity/v6 v6.0.1 // indirect
	github.com/jcmturner/rpc/v2 v2.0.3 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)
