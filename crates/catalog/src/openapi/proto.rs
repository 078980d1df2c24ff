//! The Swagger document in protobuf: gnostic's `openapi.v2.Document`, which kubectl reads.
//!
//! What stands at a wrong place or has a wrong type is left out; upstream would give no protobuf at all.

mod encoder;
mod tables;

use kube_wire::protobuf::Writer;
use serde_json::Value;

use super::{
    OpenApiError,
    parts::{Parts, Piece, Section},
};

/// Encodes a Swagger document, one path or definition after the other.
///
/// # Errors
/// When the document is not Swagger 2.0 or not JSON.
pub fn encode(document: &[u8]) -> Result<Vec<u8>, OpenApiError> {
    let parts = Parts::read(document)?;
    let mut writer = Writer::with_capacity(document.len());
    let rest = parts.rest.iter().map(|piece| Ok((piece.name.to_string(), read(piece)?)));
    let rest = Value::Object(rest.collect::<Result<_, OpenApiError>>()?);
    encoder::message(&mut writer, &tables::DOCUMENT_HEAD, &rest);
    writer.try_message(8, |writer| paths(writer, &parts))?;
    for (section, field, kind) in [
        (Section::Definitions, 9, &tables::SCHEMA_VALUE),
        (Section::Parameters, 10, &tables::PARAMETER_VALUE),
        (Section::Responses, 11, &tables::RESPONSE_VALUE),
    ] {
        let pieces = || parts.components.iter().filter(|(of, _)| *of == section).map(|(_, piece)| piece);
        if pieces().next().is_none() {
            continue;
        }
        writer.try_message(field, |writer| {
            pieces().try_for_each(|piece| {
                encoder::named(writer, 1, &piece.name, kind, &read(piece)?);
                Ok::<_, OpenApiError>(())
            })
        })?;
    }
    encoder::message(&mut writer, &tables::DOCUMENT_TAIL, &rest);
    Ok(writer.into_bytes())
}

fn paths(writer: &mut Writer, parts: &Parts<'_>) -> Result<(), OpenApiError> {
    for piece in &parts.paths {
        if piece.name.starts_with("x-") {
            encoder::named(writer, 1, &piece.name, &tables::ANY_VALUE, &read(piece)?);
        }
    }
    for piece in &parts.paths {
        if piece.name.starts_with('/') {
            encoder::named(writer, 2, &piece.name, &tables::PATH_ITEM_VALUE, &read(piece)?);
        }
    }
    Ok(())
}

fn read(piece: &Piece<'_>) -> Result<Value, OpenApiError> {
    Ok(serde_json::from_str(piece.text.get())?)
}
