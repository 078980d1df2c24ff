use http::Request;
use kube_wire::identity::UserInfo;

use super::*;

fn identity(name: &str) -> Arc<Identity> {
    Arc::new(Identity::authenticated(UserInfo::new(name, ["dev"])).unwrap())
}

fn request(uri: &str) -> Parts {
    let request = Request::get(uri)
        .header("user-agent", "kubectl/v1.37.2")
        .header("x-forwarded-for", "10.1.2.3, not-an-address, 10.1.2.4");
    request.body(()).unwrap().into_parts().0
}

fn record(audit: &Audit, uri: &str) -> Option<Box<AuditRecord>> {
    let id = HeaderValue::from_static("0000");
    audit.begin(&request(uri), "[::ffff:10.9.9.9]:1234".parse().unwrap(), Some(&identity("ann")), &id)
}

fn lines(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn off_there_is_no_record() {
    assert!(record(&Audit::off(), "/apis").is_none());
}

#[test]
fn a_line_says_who_did_what_and_who_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.log");
    let metrics = Metrics::default();
    let audit = Audit::to_file(&path, &metrics).unwrap();
    let uri = "/apis/wardle.example.com/v1/namespaces/default/flunders/one/status?pretty=true";
    let mut record = record(&audit, uri).unwrap();
    record.impersonates(&identity("bob"));
    record.answered(StatusCode::OK, Some(&ServerName::new("wardle")));
    drop(record);
    audit.flush();
    let mut lines = lines(&path);
    let line = &mut lines[0];
    for stamp in ["requestReceivedTimestamp", "stageTimestamp"] {
        let time = line.as_object_mut().unwrap().remove(stamp).unwrap();
        assert!(time.as_str().unwrap().ends_with('Z'), "{stamp}: {time}");
    }
    let user = |name: &str| serde_json::json!({"username": name, "groups": ["dev", "system:authenticated"]});
    let expected = serde_json::json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "0000",
        "stage": "ResponseComplete", "requestURI": uri, "verb": "get",
        "user": user("ann"), "impersonatedUser": user("bob"),
        "sourceIPs": ["10.1.2.3", "10.1.2.4", "10.9.9.9"], "userAgent": "kubectl/v1.37.2",
        "objectRef": {
            "resource": "flunders", "namespace": "default", "name": "one", "subresource": "status",
            "apiGroup": "wardle.example.com", "apiVersion": "v1",
        },
        "responseStatus": {"metadata": {}, "code": 200},
        "annotations": {"federation.trellis.dev/server": "wardle"},
    });
    assert_eq!(*line, expected);
    assert_eq!(metrics.audit().events.get(), 1);
}

#[test]
fn a_file_that_was_moved_away_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.log");
    let audit = Audit::to_file(&path, &Metrics::default()).unwrap();
    drop(record(&audit, "/version"));
    audit.flush();
    std::fs::rename(&path, folder.path().join("audit.log.1")).unwrap();
    audit.reopen();
    drop(record(&audit, "/apis"));
    audit.flush();
    assert_eq!(lines(&folder.path().join("audit.log.1")).len(), 1);
    assert_eq!(lines(&path)[0]["requestURI"], "/apis");
}

#[test]
fn a_full_queue_drops_and_counts() {
    let (queue, messages) = sync_channel(2);
    let counters = Arc::new(AuditCounters::default());
    let audit = Audit(Some(Arc::new(Sink { queue, counters: counters.clone() })));
    for _ in 0..5 {
        drop(record(&audit, "/apis"));
    }
    assert_eq!(counters.errors.get(), 3);
    drop(messages);
}
