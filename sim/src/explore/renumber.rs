//! What actors know, with other numbers.
//!
//! The value is written as postcard writes it, with each number of the protocol replaced on the
//! way, and read back.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::{self, Serializer};

use super::book::Book;
use super::canon::{Kind, Never};

/// The place that is next in a queue: above all that there are.
const NEXT_PLACE: u64 = 1_000;

/// The same value with other numbers. Of names nothing is replaced.
pub(super) fn renumbered<T: Serialize + DeserializeOwned>(
    value: &T,
    number: &dyn Fn(Kind, u64) -> u64,
) -> T {
    rewritten(value, number, false)
}

/// The same, without the rows of a book that decide nothing.
pub(super) fn renumbered_without_spent<T: Serialize + DeserializeOwned>(
    value: &T,
    number: &dyn Fn(Kind, u64) -> u64,
) -> T {
    rewritten(value, number, true)
}

fn rewritten<T: Serialize + DeserializeOwned>(
    value: &T,
    number: &dyn Fn(Kind, u64) -> u64,
    leaves_out_spent: bool,
) -> T {
    let mut writer = Renumbering {
        bytes: Vec::with_capacity(1024),
        number,
        next: None,
        leaves_out_spent,
        book: Book::default(),
        rows_at: None,
    };
    value.serialize(&mut writer).expect("whatever is known can be encoded");
    postcard::from_bytes(&writer.bytes).expect("what was encoded as postcard does is decoded")
}

struct Renumbering<'a> {
    bytes: Vec<u8>,
    number: &'a dyn Fn(Kind, u64) -> u64,
    /// The next integer is a number of this kind.
    next: Option<Kind>,
    leaves_out_spent: bool,
    book: Book,
    /// Where the number of rows of the book is that is being written.
    rows_at: Option<usize>,
}

impl Renumbering<'_> {
    fn integer(&mut self, mut value: u128) {
        loop {
            let low = u8::try_from(value & 0x7f).expect("seven bits");
            value >>= 7;
            if value == 0 {
                return self.bytes.push(low);
            }
            self.bytes.push(low | 0x80);
        }
    }

    fn length(&mut self, length: usize) {
        self.integer(u128::try_from(length).expect("a length is small"));
    }
}

macro_rules! compound {
    ($($trait:ident: $method:ident),*) => {$(
        impl ser::$trait for &mut Renumbering<'_> {
            type Ok = ();
            type Error = Never;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Never> {
                Ok(())
            }
        }
    )*};
}

impl ser::SerializeSeq for &mut Renumbering<'_> {
    type Ok = ();
    type Error = Never;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        let start = self.bytes.len();
        value.serialize(&mut **self)?;
        let is_spent = self.leaves_out_spent && self.book.row_is_spent();
        if let Some(rows_at) = self.rows_at.filter(|_| is_spent) {
            self.bytes.truncate(start);
            self.bytes[rows_at] -= 1;
        }
        Ok(())
    }

    fn end(self) -> Result<(), Never> {
        self.rows_at = None;
        Ok(())
    }
}

compound!(
    SerializeTuple: serialize_element,
    SerializeTupleStruct: serialize_field,
    SerializeTupleVariant: serialize_field
);

impl ser::SerializeMap for &mut Renumbering<'_> {
    type Ok = ();
    type Error = Never;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Never> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Never> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Never> {
        Ok(())
    }
}

macro_rules! named {
    ($($trait:ident),*) => {$(
        impl ser::$trait for &mut Renumbering<'_> {
            type Ok = ();
            type Error = Never;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), Never> {
                self.book.field(key);
                match key {
                    "place" => self.next = Some(Kind::Place),
                    "next_place" => {
                        self.integer(NEXT_PLACE.into());
                        return Ok(());
                    }
                    _ => {}
                }
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Never> {
                Ok(())
            }
        }
    )*};
}

named!(SerializeStruct, SerializeStructVariant);

macro_rules! unsigned {
    ($($method:ident: $type:ty),*) => {$(
        fn $method(self, value: $type) -> Result<(), Never> {
            self.integer(value.into());
            Ok(())
        }
    )*};
}

macro_rules! unknown {
    ($($method:ident: $type:ty),*) => {$(
        fn $method(self, _: $type) -> Result<(), Never> {
            unreachable!("actors know no such value")
        }
    )*};
}

impl Serializer for &mut Renumbering<'_> {
    type Ok = ();
    type Error = Never;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    unsigned!(serialize_u16: u16, serialize_u32: u32, serialize_u128: u128);
    unknown!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_f32: f32, serialize_f64: f64, serialize_char: char
    );

    fn serialize_u8(self, value: u8) -> Result<(), Never> {
        self.bytes.push(value);
        Ok(())
    }

    fn serialize_u64(self, value: u64) -> Result<(), Never> {
        let value = self.next.take().map_or(value, |kind| (self.number)(kind, value));
        self.integer(value.into());
        Ok(())
    }

    fn serialize_bool(self, value: bool) -> Result<(), Never> {
        self.serialize_u8(u8::from(value))
    }

    fn serialize_str(self, value: &str) -> Result<(), Never> {
        self.next = None;
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Never> {
        self.length(value.len());
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
        self.serialize_u32(index)
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
        self.integer(index.into());
        value.serialize(self)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self, Never> {
        let length = length.expect("a sequence that is known has a length");
        self.rows_at = self.book.begins().then_some(self.bytes.len());
        assert!(self.rows_at.is_none() || length < 0x80, "few rows: their number has one byte");
        self.length(length);
        Ok(self)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self, Never> {
        self.length(length.expect("a map that is known has a length"));
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Never> {
        self.integer(index.into());
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Never> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        index: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Never> {
        self.integer(index.into());
        Ok(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}
