//! `Status` in Kubernetes' protobuf envelope. Field numbers are those of
//! `k8s.io/apimachinery/pkg/apis/meta/v1/generated.proto` and `pkg/runtime/generated.proto`; strings
//! that are not pointers in Go are written even when empty, as the generated code does.

use super::{Status, StatusCause, StatusDetails};
use crate::protobuf::{self, Writer};

pub(super) fn envelope(status: &Status) -> Vec<u8> {
    protobuf::envelope(("v1", "Status"), |raw| body(raw, status))
}

fn body(raw: &mut Writer, status: &Status) {
    raw.message(1, |list_meta| {
        for field in 1..=3 {
            list_meta.string(field, "");
        }
    });
    raw.string(2, status.outcome.as_str());
    raw.string(3, &status.message);
    raw.string(4, status.reason.as_str());
    if let Some(given) = &status.details {
        raw.message(5, |message| details(message, given));
    }
    raw.int(6, status.written_code().unwrap_or_default().into());
}

fn details(message: &mut Writer, details: &StatusDetails) {
    message.string(1, &details.name);
    message.string(2, &details.group);
    message.string(3, &details.kind);
    for given in &details.causes {
        message.message(4, |message| cause(message, given));
    }
    message.int(5, details.retry_after_seconds.into());
    message.string(6, &details.uid);
}

fn cause(message: &mut Writer, cause: &StatusCause) {
    message.string(1, &cause.reason);
    message.string(2, &cause.message);
    message.string(3, &cause.field);
}
