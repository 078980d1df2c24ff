//! A protobuf reader for the tests, sharing nothing with the writer.

use std::collections::BTreeMap;

use kube_wire::protobuf::Writer;

#[derive(Clone, Debug)]
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message, by number.
#[derive(Debug, Default)]
pub(crate) struct Message<'a> {
    fields: BTreeMap<u64, Vec<Value<'a>>>,
}

impl<'a> Message<'a> {
    pub(crate) fn read(mut bytes: &'a [u8]) -> Self {
        let mut message = Self::default();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes);
            let value = match tag & 7 {
                0 => Value::Number(varint(&mut bytes)),
                1 => {
                    let (fixed, rest) = bytes.split_first_chunk::<8>().unwrap();
                    bytes = rest;
                    Value::Number(u64::from_le_bytes(*fixed))
                }
                2 => {
                    let length = usize::try_from(varint(&mut bytes)).unwrap();
                    let (value, rest) = bytes.split_at(length);
                    bytes = rest;
                    Value::Bytes(value)
                }
                other => panic!("wire type {other}"),
            };
            message.fields.entry(tag >> 3).or_default().push(value);
        }
        message
    }

    pub(crate) fn number(&self, field: u64) -> u64 {
        match self.one(field) {
            Value::Number(number) => *number,
            Value::Bytes(_) => panic!("field {field} is no number"),
        }
    }

    pub(crate) fn string(&self, field: u64) -> &'a str {
        std::str::from_utf8(bytes(self.one(field))).unwrap()
    }

    pub(crate) fn message(&self, field: u64) -> Message<'a> {
        Self::read(bytes(self.one(field)))
    }

    pub(crate) fn messages(&self, field: u64) -> Vec<Message<'a>> {
        self.fields[&field].iter().map(|value| Self::read(bytes(value))).collect()
    }

    fn one(&self, field: u64) -> &Value<'a> {
        match &self.fields[&field][..] {
            [value] => value,
            more => panic!("field {field} stands {} times", more.len()),
        }
    }
}

fn bytes<'a>(value: &Value<'a>) -> &'a [u8] {
    match value {
        Value::Bytes(bytes) => bytes,
        Value::Number(_) => panic!("no bytes"),
    }
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
    }
    panic!("a varint of more than ten bytes");
}

#[test]
fn nested_messages_of_every_length_get_the_right_prefix() {
    for length in [0, 1, 126, 127, 128, 129, 16_383, 16_384, 70_000] {
        let text = "x".repeat(length);
        let mut writer = Writer::new();
        writer.string(1, "before");
        writer.message(2, |outer| outer.message(3, |inner| inner.string_unless_empty(4, &text)));
        writer.string(5, "after");
        let bytes = writer.into_bytes();
        let message = Message::read(&bytes);
        assert_eq!((message.string(1), message.string(5)), ("before", "after"));
        let inner = message.message(2).message(3);
        assert_eq!(inner.fields.len(), usize::from(length > 0));
        assert!(length == 0 || inner.string(4) == text);
    }
}

#[test]
fn numbers_of_every_size() {
    for number in [0, 1, 127, 128, 300, i64::from(i32::MAX), i64::MAX, -1, i64::MIN] {
        let mut writer = Writer::new();
        writer.int(1, number);
        writer.double(2, 0.5);
        writer.bool(16, true);
        let bytes = writer.into_bytes();
        let message = Message::read(&bytes);
        assert_eq!(message.number(1).cast_signed(), number);
        assert_eq!(message.number(2), 0.5f64.to_bits());
        assert_eq!(message.number(16), 1);
    }
}
