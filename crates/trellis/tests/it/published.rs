//! What is published beside the code is what the code says; `UPDATE_EXPECT=1` renews it.

use expect_test::expect_file;

use crate::program::{run, trellis};

#[test]
fn the_definition_of_registrations() {
    let manifest = serde_saphyr::to_string(&registry::crd_manifest()).expect("YAML");
    let head =
        "# Kind APIServer, for a core API server: kubectl apply -f, or trellis serve --install-crds.\n";
    let name = "../../../../schema/apiservers.federation.trellis.dev.yaml";
    expect_file![name].assert_eq(&format!("{head}{}\n", manifest.trim_end()));
}

#[test]
fn the_schema_of_the_configuration_file() {
    let ended = run(trellis().args(["config", "schema"]));
    expect_file!["../../../../schema/door-config.schema.json"].assert_eq(&ended.stdout);
}
