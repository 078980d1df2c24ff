//! Writing protobuf: the wire types that Kubernetes objects and OpenAPI documents need, and the envelope
//! of the former.

/// What every protobuf body of Kubernetes starts with.
const MAGIC: &[u8; 4] = b"k8s\0";

/// Appends protobuf fields to a buffer.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    buffer: Vec<u8>,
}

/// An object in Kubernetes' envelope, `runtime.Unknown` of `k8s.io/apimachinery/pkg/runtime/generated.proto`:
/// API version and kind, then the message that `body` writes.
pub fn envelope((api_version, kind): (&str, &str), body: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut bytes = Writer { buffer: MAGIC.to_vec() };
    bytes.message(1, |type_meta| {
        type_meta.string(1, api_version);
        type_meta.string(2, kind);
    });
    bytes.message(2, body);
    bytes.string(3, "");
    bytes.string(4, "");
    bytes.into_bytes()
}

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const LENGTH_DELIMITED: u32 = 2;

impl Writer {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty buffer with room for this many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { buffer: Vec::with_capacity(bytes) }
    }

    /// What was written.
    pub fn into_bytes(self) -> Vec<u8> {
        self.buffer
    }

    /// How many bytes were written.
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// A varint field; negative numbers take ten bytes, as `int32` and `int64` do.
    pub fn int(&mut self, field: u32, value: i64) {
        self.tag(field, VARINT);
        self.varint(value.cast_unsigned());
    }

    /// A `bool` field.
    pub fn bool(&mut self, field: u32, value: bool) {
        self.int(field, i64::from(value));
    }

    /// A `double` field.
    pub fn double(&mut self, field: u32, value: f64) {
        self.tag(field, FIXED64);
        self.buffer.extend_from_slice(&value.to_le_bytes());
    }

    /// A `bytes` field.
    pub fn bytes(&mut self, field: u32, value: &[u8]) {
        self.tag(field, LENGTH_DELIMITED);
        self.varint(value.len() as u64);
        self.buffer.extend_from_slice(value);
    }

    /// A `string` field.
    pub fn string(&mut self, field: u32, value: &str) {
        self.bytes(field, value.as_bytes());
    }

    /// A repeated `string` field.
    pub fn strings(&mut self, field: u32, values: &[String]) {
        for value in values {
            self.string(field, value);
        }
    }

    /// A `string` field, left out when empty.
    pub fn string_unless_empty(&mut self, field: u32, value: &str) {
        if !value.is_empty() {
            self.string(field, value);
        }
    }

    /// An embedded message, written by `body` into this same buffer: the length is put in front of it
    /// afterwards, so that deep messages need no buffer for each level.
    pub fn message(&mut self, field: u32, body: impl FnOnce(&mut Self)) {
        let written: Result<(), std::convert::Infallible> = self.try_message(field, |writer| {
            body(writer);
            Ok(())
        });
        match written {
            Ok(()) => {}
        }
    }

    /// As [`Writer::message`], for a body that can fail; the buffer is of no use then.
    ///
    /// # Errors
    /// The body's.
    pub fn try_message<E>(
        &mut self,
        field: u32,
        body: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        self.tag(field, LENGTH_DELIMITED);
        let start = self.buffer.len();
        body(self)?;
        let length = self.buffer.len() - start;
        self.varint(length as u64);
        let prefix = self.buffer.len() - start - length;
        self.buffer[start..].rotate_right(prefix);
        Ok(())
    }

    fn tag(&mut self, field: u32, wire_type: u32) {
        self.varint(u64::from(field << 3 | wire_type));
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.buffer.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.buffer.push(value.to_le_bytes()[0]);
    }
}
