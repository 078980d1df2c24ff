//! `/version`: the core's when there is one, else the door's own.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Response};
use serde::Serialize;

use super::{of_core::OfCore, with_type};
use crate::{authn::CoreClient, body::Body};

/// The Kubernetes minor version whose API the door speaks.
const MINOR: &str = "37";

/// Where the version comes from.
pub(super) struct Version(OfCore);

impl Version {
    pub(super) fn new(core: Arc<dyn CoreClient>) -> Self {
        Self(OfCore::new(core, "/version"))
    }

    /// The core's last answer when there is a core, else the door's own version.
    pub(super) async fn answer(&self, has_core: bool) -> Response<Body> {
        let body = match has_core {
            true => self.0.get().await,
            false => None,
        };
        with_type(body.unwrap_or_else(own), HeaderValue::from_static("application/json"))
    }
}

/// All fields that client libraries insist on.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    major: &'static str,
    minor: &'static str,
    git_version: String,
    git_commit: &'static str,
    git_tree_state: &'static str,
    build_date: &'static str,
    go_version: &'static str,
    compiler: &'static str,
    platform: String,
}

fn own() -> Bytes {
    let os = std::env::consts::OS;
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let info = Info {
        major: "1",
        minor: MINOR,
        git_version: format!("v1.{MINOR}.2+trellis-{}", env!("CARGO_PKG_VERSION")),
        git_commit: option_env!("TRELLIS_GIT_COMMIT").unwrap_or("unknown"),
        git_tree_state: "clean",
        build_date: option_env!("TRELLIS_BUILD_DATE").unwrap_or("1970-01-01T00:00:00Z"),
        // Nothing here is Go; clients only want a text.
        go_version: "none",
        compiler: "rustc",
        platform: format!("{os}/{arch}"),
    };
    serde_json::to_vec_pretty(&info).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_doors_own_version_has_every_field() {
        let info: serde_json::Value = serde_json::from_slice(&own()).unwrap();
        let fields = [
            "major",
            "minor",
            "gitVersion",
            "gitCommit",
            "gitTreeState",
            "buildDate",
            "goVersion",
            "compiler",
            "platform",
        ];
        for field in fields {
            assert!(info[field].as_str().is_some_and(|text| !text.is_empty()), "{field}");
        }
        assert!(info["gitVersion"].as_str().unwrap().starts_with("v1.37.2+trellis"));
    }
}
