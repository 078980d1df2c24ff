//! A Swagger document taken apart at its top level; the pieces stay text.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{MAX_COMPONENTS, OpenApiError};

/// What can be referred to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Section {
    Definitions,
    Parameters,
    Responses,
}

impl Section {
    pub(super) const ALL: [Self; 3] = [Self::Definitions, Self::Parameters, Self::Responses];

    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Definitions => "definitions",
            Self::Parameters => "parameters",
            Self::Responses => "responses",
        }
    }
}

/// A named piece of a document.
#[derive(Clone, Debug)]
pub(super) struct Piece<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) text: &'a RawValue,
}

/// The document's own top level.
#[derive(Debug, Default)]
pub(super) struct Parts<'a> {
    pub(super) paths: Vec<Piece<'a>>,
    /// Definitions, parameters and responses, in this order.
    pub(super) components: Vec<(Section, Piece<'a>)>,
    /// `swagger`, `info`, `securityDefinitions` and so on.
    pub(super) rest: Vec<Piece<'a>>,
}

impl<'a> Parts<'a> {
    pub(super) fn read(document: &'a [u8]) -> Result<Self, OpenApiError> {
        let Pieces(top) = serde_json::from_str(std::str::from_utf8(document)?)?;
        let mut parts = Self::default();
        let mut sections: [Vec<Piece<'a>>; 3] = Default::default();
        let mut swagger = false;
        for piece in top {
            match &*piece.name {
                "paths" => parts.paths = pieces(piece.text)?,
                "definitions" => sections[0] = pieces(piece.text)?,
                "parameters" => sections[1] = pieces(piece.text)?,
                "responses" => sections[2] = pieces(piece.text)?,
                name => {
                    swagger |= name == "swagger" && piece.text.get() == "\"2.0\"";
                    parts.rest.push(piece);
                }
            }
        }
        if !swagger {
            return Err(OpenApiError::Version);
        }
        for (section, pieces) in Section::ALL.into_iter().zip(sections) {
            parts.components.extend(pieces.into_iter().map(|piece| (section, piece)));
        }
        if parts.components.len() > MAX_COMPONENTS {
            return Err(OpenApiError::TooMany);
        }
        Ok(parts)
    }

    pub(super) fn rest(&self, name: &str) -> Option<&'a RawValue> {
        self.rest.iter().find(|piece| piece.name == name).map(|piece| piece.text)
    }
}

fn pieces(text: &RawValue) -> Result<Vec<Piece<'_>>, OpenApiError> {
    if text.get() == "null" {
        return Ok(Vec::new());
    }
    let Pieces(pieces) = serde_json::from_str(text.get())?;
    Ok(pieces)
}

/// The entries of an object in their order, values unread.
#[derive(Default)]
pub(super) struct Pieces<'a>(pub(super) Vec<Piece<'a>>);

impl<'de> Deserialize<'de> for Pieces<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Pieces<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pieces<'de>, A::Error> {
                let mut pieces = Vec::new();
                while let Some(Name(name)) = map.next_key()? {
                    pieces.push(Piece { name, text: map.next_value()? });
                }
                Ok(Pieces(pieces))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// A key, borrowed where it has no escapes.
pub(super) struct Name<'a>(pub(super) Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}
