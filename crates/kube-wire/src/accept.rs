//! `Accept`: which of the representations that an endpoint offers a client takes.
//!
//! Nothing is allocated: the header is read once for each offer list, and headers have three clauses.

mod negotiate;

pub use negotiate::{Discovery, discovery, encoding, negotiate_status, pretty, wants_table};

/// Clauses after this many are not read; no client comes near it.
pub const MAX_CLAUSES: usize = 64;

/// The MIME type of JSON.
pub const JSON: &str = "application/json";
/// The MIME type of YAML.
pub const YAML: &str = "application/yaml";
/// The MIME type of Kubernetes' protobuf envelope.
pub const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// An `Accept` header, not yet read.
#[derive(Clone, Copy, Debug)]
pub struct Accept<'a> {
    header: &'a str,
}

/// One clause of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clause<'a> {
    /// `application`, or `*`.
    pub kind: &'a str,
    /// `json`, or `*`.
    pub subtype: &'a str,
    /// The quality in thousandths; what cannot be read as a number is 0.
    pub quality: u16,
    parameters: &'a str,
}

/// One representation that an endpoint can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer<'a> {
    /// The MIME type without parameters, for example [`JSON`].
    pub media_type: &'a str,
    /// The object into which the answer is transformed; none for the endpoint's own type.
    pub target: Option<Target<'a>>,
    /// Whether `stream=watch` can be had.
    pub stream: bool,
}

/// The type that a clause asks for by `as`, `g` and `v`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target<'a> {
    /// API group (`g`).
    pub group: &'a str,
    /// API version (`v`).
    pub version: &'a str,
    /// Kind (`as`).
    pub kind: &'a str,
}

impl<'a> Offer<'a> {
    /// The endpoint's own type in this encoding, without streams.
    pub const fn plain(media_type: &'a str) -> Self {
        Self { media_type, target: None, stream: false }
    }

    /// The answer transformed into this type.
    pub const fn transformed(media_type: &'a str, target: Target<'a>) -> Self {
        Self { media_type, target: Some(target), stream: false }
    }
}

/// Reads an `Accept` header; several header lines are joined with commas before.
pub fn parse(header: &str) -> Accept<'_> {
    Accept { header }
}

impl<'a> Accept<'a> {
    /// The clauses as the client sent them; malformed ones are left out.
    pub fn clauses(self) -> impl Iterator<Item = Clause<'a>> {
        self.header.split(',').take(MAX_CLAUSES).filter_map(Clause::read)
    }

    /// The clauses in the order in which they are tried: by quality, then by how exactly they name the
    /// type, then as sent.
    pub fn ordered(self) -> Vec<Clause<'a>> {
        let mut clauses: Vec<_> = self.clauses().collect();
        clauses.sort_by_key(|clause| std::cmp::Reverse(clause.rank()));
        clauses
    }

    /// The offer that the client likes best, by its index. A clause whose parameters no offer
    /// satisfies is skipped; an absent header takes the first offer. None: 406.
    pub fn choose(self, offers: &[Offer<'_>]) -> Option<usize> {
        self.choose_clause(offers).map(|(offer, _)| offer)
    }

    /// As [`Accept::choose`], with the clause that decided (none when there is no header).
    pub fn choose_clause(self, offers: &[Offer<'_>]) -> Option<(usize, Option<Clause<'a>>)> {
        if self.header.is_empty() {
            return (!offers.is_empty()).then_some((0, None));
        }
        let mut best: Option<(usize, Clause<'a>)> = None;
        for clause in self.clauses() {
            if best.is_some_and(|(_, chosen)| chosen.rank() >= clause.rank()) {
                continue;
            }
            if let Some(offer) = offers.iter().position(|offer| clause.takes(offer)) {
                best = Some((offer, clause));
            }
        }
        best.map(|(offer, clause)| (offer, Some(clause)))
    }
}

impl<'a> Clause<'a> {
    fn read(clause: &'a str) -> Option<Self> {
        let (media_type, parameters) = clause.split_once(';').unwrap_or((clause, ""));
        let (kind, subtype) = match media_type.split_once('/') {
            Some((kind, subtype)) => (trim(kind), trim(subtype)),
            // Java's HTTP client sends a lone asterisk.
            None => (trim(media_type), "*"),
        };
        let lone = !media_type.contains('/') && kind != "*";
        if lone || subtype.is_empty() || subtype.contains('/') {
            return None;
        }
        let mut read = Self { kind, subtype, quality: 1000, parameters };
        if let Some(quality) = read.parameter("q") {
            read.quality = thousandths(quality);
        }
        Some(read)
    }

    /// The parameters in the order in which they were sent, `q` among them.
    pub fn parameters(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.parameters.split(';').filter_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            (!value.is_empty() && !value.contains('=')).then(|| (trim(name), trim(value)))
        })
    }

    /// The value of a parameter, the last one when it stands more than once.
    pub fn parameter(&self, name: &str) -> Option<&'a str> {
        self.parameters().filter(|(key, _)| *key == name).last().map(|(_, value)| value)
    }

    /// The type that it asks for; none for the endpoint's own.
    pub fn target(&self) -> Option<Target<'a>> {
        let (group, version, kind) = (self.parameter("g"), self.parameter("v"), self.parameter("as"));
        (group.or(version).or(kind)).map(|_| Target {
            group: group.unwrap_or_default(),
            version: version.unwrap_or_default(),
            kind: kind.unwrap_or_default(),
        })
    }

    /// Whether it asks for output that people read.
    pub fn pretty(&self) -> bool {
        self.parameter("pretty") == Some("1")
    }

    fn takes(&self, offer: &Offer<'_>) -> bool {
        self.matches_type(offer.media_type) && self.parameters_fit(offer)
    }

    fn matches_type(&self, media_type: &str) -> bool {
        let (kind, subtype) = media_type.split_once('/').unwrap_or((media_type, ""));
        match (self.kind, self.subtype) {
            ("*", "*") => true,
            (own, "*") => own.eq_ignore_ascii_case(kind),
            (own, exact) => own.eq_ignore_ascii_case(kind) && exact.eq_ignore_ascii_case(subtype),
        }
    }

    fn parameters_fit(&self, offer: &Offer<'_>) -> bool {
        if self.parameters.is_empty() {
            return offer.target.is_none();
        }
        let stream = self.parameter("stream").is_none_or(|schema| offer.stream && schema == "watch");
        stream && self.parameter("sv").is_none() && self.target() == offer.target
    }

    fn rank(&self) -> (u16, u8) {
        (self.quality, u8::from(self.kind != "*") + u8::from(self.subtype != "*"))
    }
}

fn trim(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

fn thousandths(quality: &str) -> u16 {
    match quality.parse::<f32>() {
        // Between 0 and 1 after the clamp, so neither sign nor range is lost.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Ok(quality) if quality.is_finite() => (quality.clamp(0.0, 1.0) * 1000.0).round() as u16,
        _ => 0,
    }
}
