//! The reasons that client libraries know.

/// `metav1.StatusReason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// None is given.
    Unknown,
    /// 401: no identity.
    Unauthorized,
    /// 403: not allowed.
    Forbidden,
    /// 404: no such object.
    NotFound,
    /// 409: the name is taken.
    AlreadyExists,
    /// 409: the object has changed since it was read.
    Conflict,
    /// 410: the resource version is too old.
    Expired,
    /// 410: it is not there any more.
    Gone,
    /// 422: a field is wrong.
    Invalid,
    /// 504: the server did not finish in time.
    Timeout,
    /// 500: the operation could not be finished now.
    ServerTimeout,
    /// 429: too many requests.
    TooManyRequests,
    /// 400: the request cannot be understood.
    BadRequest,
    /// 405: not with this method.
    MethodNotAllowed,
    /// 406: in none of the types that the client accepts.
    NotAcceptable,
    /// 413: the body is too large.
    RequestEntityTooLarge,
    /// 415: the body has an unknown type.
    UnsupportedMediaType,
    /// 500: something broke.
    InternalError,
    /// 503: the server cannot do this now.
    ServiceUnavailable,
}

impl Reason {
    /// The word on the wire; empty for [`Reason::Unknown`].
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::Unauthorized => "Unauthorized",
            Self::Forbidden => "Forbidden",
            Self::NotFound => "NotFound",
            Self::AlreadyExists => "AlreadyExists",
            Self::Conflict => "Conflict",
            Self::Expired => "Expired",
            Self::Gone => "Gone",
            Self::Invalid => "Invalid",
            Self::Timeout => "Timeout",
            Self::ServerTimeout => "ServerTimeout",
            Self::TooManyRequests => "TooManyRequests",
            Self::BadRequest => "BadRequest",
            Self::MethodNotAllowed => "MethodNotAllowed",
            Self::NotAcceptable => "NotAcceptable",
            Self::RequestEntityTooLarge => "RequestEntityTooLarge",
            Self::UnsupportedMediaType => "UnsupportedMediaType",
            Self::InternalError => "InternalError",
            Self::ServiceUnavailable => "ServiceUnavailable",
        }
    }
}
