//! A canonical encoding of what actors know, with the numbers of the protocol set apart.
//!
//! The actors compare their numbers and do nothing else with them, so of a number only its rank
//! counts. The encoding is driven by serde: numbers are newtypes, and are known by their names.

use std::fmt;

use handover_core::Name;
use serde::ser::{self, Serialize, Serializer};

use super::Reductions;
use super::book::Book;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Seq,
    Revision,
    Grant,
    Ticket,
    Place,
    /// Of a place of the setup; it has no rank, and another one where hosts are sorted.
    Name,
}

impl Kind {
    pub(super) fn of(newtype: &str) -> Option<Self> {
        match newtype {
            "Seq" => Some(Self::Seq),
            "Revision" => Some(Self::Revision),
            "GrantId" => Some(Self::Grant),
            "Ticket" => Some(Self::Ticket),
            "Name" => Some(Self::Name),
            _ => None,
        }
    }
}

/// A number among those that it is compared with: its kind and scope, then its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Number(u64);

const VALUE_BITS: u32 = 32;
const SCOPE_BITS: u32 = 29;

impl Number {
    pub(super) fn new(kind: Kind, scope: u32, value: u64) -> Self {
        assert!(value < 1 << VALUE_BITS && scope < 1 << SCOPE_BITS, "numbers stay below 2^32");
        Self((kind as u64) << (VALUE_BITS + SCOPE_BITS) | u64::from(scope) << VALUE_BITS | value)
    }

    /// Kind and scope.
    pub(super) fn group(self) -> u64 {
        self.0 >> VALUE_BITS
    }

    /// The index of the place that it names, if it names one.
    pub(super) fn name(self) -> Option<usize> {
        self.is(Kind::Name).then(|| usize::try_from(self.value()).expect("an index"))
    }

    pub(super) fn is(self, kind: Kind) -> bool {
        self.0 >> (VALUE_BITS + SCOPE_BITS) == kind as u64
    }

    pub(super) fn value(self) -> u64 {
        self.0 & ((1 << VALUE_BITS) - 1)
    }
}

/// Bytes, and the numbers that belong between them, in order.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
    pub(super) numbers: Vec<Number>,
    reductions: Reductions,
    /// Whose statements are numbered.
    pub(super) host: u32,
    /// Whose views and queue are numbered.
    pub(super) process: u32,
    /// The places of the setup, in order.
    places: Vec<Name>,
    /// The next integer is a number of this kind.
    next: Option<Kind>,
    book: Book,
}

impl Writer {
    pub(super) fn new(reductions: Reductions, places: Vec<Name>) -> Self {
        Self {
            places,
            bytes: Vec::with_capacity(512),
            numbers: Vec::with_capacity(16),
            reductions,
            host: 0,
            process: 0,
            next: None,
            book: Book::default(),
        }
    }

    /// Forgets what was written.
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.numbers.clear();
    }

    pub(super) fn write<T: Serialize + ?Sized>(&mut self, value: &T) {
        value.serialize(self).expect("whatever is known can be encoded");
    }

    fn name(&self, name: &str) -> Number {
        let at = self.places.iter().position(|place| place.as_str() == name);
        let at = at.expect("hosts live at places of the setup");
        Number::new(Kind::Name, 0, at as u64)
    }

    fn number(&mut self, kind: Kind, value: u64) {
        if !self.reductions.ranks {
            self.bytes.extend(value.to_le_bytes());
            return;
        }
        let scope = match kind {
            Kind::Seq => self.host,
            Kind::Revision | Kind::Place => self.process,
            Kind::Grant | Kind::Ticket | Kind::Name => 0,
        };
        self.numbers.push(Number::new(kind, scope, value));
    }

    /// A field that decides nothing, or that follows from the rest.
    fn is_left_out(&self, field: &str, of: &str) -> bool {
        let Reductions { ranks, spent, .. } = self.reductions;
        match (of, field) {
            // It is written apart, as its host acts on it.
            ("Candidate", "view") => true,
            // What was read last is the view that is held; where none is held, any view is newer.
            ("Candidate", "read") | ("Ledger", "next_place") => ranks,
            // There is one.
            ("Candidate", "record") => spent,
            _ => false,
        }
    }

    fn field<T: Serialize + ?Sized>(
        &mut self,
        of: &'static str,
        key: &'static str,
        value: &T,
    ) -> Result<(), Never> {
        if self.is_left_out(key, of) {
            return Ok(());
        }
        if key == "place" {
            self.next = Some(Kind::Place);
        }
        self.book.field(key);
        value.serialize(&mut *self)
    }

    fn count(&mut self) -> Counted<'_> {
        let at = self.bytes.len();
        self.bytes.extend([0, 0]);
        let leaves_out_spent = self.book.begins() && self.reductions.spent;
        Counted { writer: self, at, count: 0, leaves_out_spent }
    }

    fn variant(&mut self, index: u32) {
        self.bytes.push(u8::try_from(index).expect("an enum has at most 256 variants"));
    }
}

/// Nothing fails.
#[derive(Debug)]
pub(super) struct Never(String);

impl fmt::Display for Never {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Never {}

impl ser::Error for Never {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Elements whose count is written before them.
pub(super) struct Counted<'a> {
    writer: &'a mut Writer,
    at: usize,
    count: u16,
    /// They are the rows of a book, of which those are left out that decide nothing.
    leaves_out_spent: bool,
}

impl Counted<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        self.count += 1;
        value.serialize(&mut *self.writer)
    }

    fn done(self) {
        let count = self.count.to_le_bytes();
        self.writer.bytes[self.at..self.at + 2].copy_from_slice(&count);
    }
}

impl ser::SerializeSeq for Counted<'_> {
    type Ok = ();
    type Error = Never;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        let (bytes, numbers) = (self.writer.bytes.len(), self.writer.numbers.len());
        self.element(value)?;
        if self.leaves_out_spent && self.writer.book.row_is_spent() {
            self.writer.bytes.truncate(bytes);
            self.writer.numbers.truncate(numbers);
            self.count -= 1;
        }
        Ok(())
    }

    fn end(self) -> Result<(), Never> {
        self.done();
        Ok(())
    }
}

impl ser::SerializeMap for Counted<'_> {
    type Ok = ();
    type Error = Never;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Never> {
        self.element(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), Never> {
        self.done();
        Ok(())
    }
}

/// Fields, whose number is fixed.
pub(super) struct Fields<'a> {
    writer: &'a mut Writer,
    name: &'static str,
}

impl ser::SerializeTuple for Fields<'_> {
    type Ok = ();
    type Error = Never;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), Never> {
        Ok(())
    }
}

macro_rules! tuple_fields {
    ($($trait:ident),*) => {$(
        impl ser::$trait for Fields<'_> {
            type Ok = ();
            type Error = Never;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
                value.serialize(&mut *self.writer)
            }

            fn end(self) -> Result<(), Never> {
                Ok(())
            }
        }
    )*};
}

tuple_fields!(SerializeTupleStruct, SerializeTupleVariant);

macro_rules! named_fields {
    ($($trait:ident),*) => {$(
        impl ser::$trait for Fields<'_> {
            type Ok = ();
            type Error = Never;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Never> {
                self.writer.field(self.name, key, value)
            }

            fn end(self) -> Result<(), Never> {
                Ok(())
            }
        }
    )*};
}

named_fields!(SerializeStruct, SerializeStructVariant);

macro_rules! integers {
    ($($method:ident: $type:ty),*) => {$(
        fn $method(self, value: $type) -> Result<(), Never> {
            self.bytes.extend(value.to_le_bytes());
            Ok(())
        }
    )*};
}

impl<'a> Serializer for &'a mut Writer {
    type Ok = ();
    type Error = Never;
    type SerializeSeq = Counted<'a>;
    type SerializeTuple = Fields<'a>;
    type SerializeTupleStruct = Fields<'a>;
    type SerializeTupleVariant = Fields<'a>;
    type SerializeMap = Counted<'a>;
    type SerializeStruct = Fields<'a>;
    type SerializeStructVariant = Fields<'a>;

    integers!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32,
        serialize_i128: i128, serialize_u128: u128, serialize_f32: f32, serialize_f64: f64
    );

    fn serialize_u64(self, value: u64) -> Result<(), Never> {
        match self.next.take() {
            Some(kind) => self.number(kind, value),
            None => self.bytes.extend(value.to_le_bytes()),
        }
        Ok(())
    }

    fn serialize_bool(self, value: bool) -> Result<(), Never> {
        self.serialize_u8(u8::from(value))
    }

    fn serialize_char(self, value: char) -> Result<(), Never> {
        self.serialize_u32(u32::from(value))
    }

    fn serialize_str(self, value: &str) -> Result<(), Never> {
        if self.next.take() == Some(Kind::Name) {
            let name = self.name(value);
            self.numbers.push(name);
            return Ok(());
        }
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Never> {
        let length = u16::try_from(value.len()).expect("texts are short");
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Never> {
        self.next = None;
        self.serialize_u8(0)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Never> {
        self.bytes.push(1);
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Never> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Never> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        of: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<(), Never> {
        self.book.variant(of, variant);
        self.variant(index);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Never> {
        self.next = Kind::of(name);
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        of: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Never> {
        self.book.variant(of, variant);
        self.variant(index);
        // The words of a failure decide nothing.
        if self.reductions.spent && variant == "Failed" {
            return Ok(());
        }
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Counted<'a>, Never> {
        Ok(self.count())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Counted<'a>, Never> {
        Ok(self.count())
    }

    fn serialize_tuple(self, _: usize) -> Result<Fields<'a>, Never> {
        Ok(Fields { writer: self, name: "" })
    }

    fn serialize_tuple_struct(self, name: &'static str, _: usize) -> Result<Fields<'a>, Never> {
        Ok(Fields { writer: self, name })
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Fields<'a>, Never> {
        self.variant(index);
        Ok(Fields { writer: self, name })
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'a>, Never> {
        Ok(Fields { writer: self, name })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Fields<'a>, Never> {
        self.variant(index);
        Ok(Fields { writer: self, name })
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}
