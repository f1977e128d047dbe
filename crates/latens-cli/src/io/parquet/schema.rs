//! Between the schema of a Parquet file and ours.

use crate::message::{Failure, Result};
use crate::table::model::{Field, KeyValue, LogicalType, Schema, Storage, TimeUnit};
use latens::NumberType;
use parquet::basic::{
    ConvertedType, LogicalType as ParquetLogical, Repetition, TimeUnit as ParquetUnit,
    Type as Physical,
};
use parquet::file::metadata::{FileMetaData, KeyValue as ParquetKeyValue};
use parquet::schema::types::{ColumnDescriptor, Type, TypePtr};
use std::sync::Arc;

/// Flat columns of a file: our schema, and which of the file's leaf columns each field is.
pub(super) struct Flat {
    pub(super) schema: Schema,
    pub(super) leaves: Vec<usize>,
    /// Names of the top-level fields that are nested.
    pub(super) nested: Vec<String>,
    /// Which of the file's leaf columns those have.
    pub(super) nested_leaves: Vec<usize>,
    /// Those of them that have one value a row or none, named by their paths: what is in structures.
    pub(super) inner: Vec<Field>,
    pub(super) inner_leaves: Vec<usize>,
}

/// Sort the columns of a file into flat ones and nested ones.
pub(super) fn read(meta: &FileMetaData) -> Result<Flat> {
    let descr = meta.schema_descr();
    let mut flat = Flat {
        schema: Schema::default(),
        leaves: Vec::new(),
        nested: Vec::new(),
        nested_leaves: Vec::new(),
        inner: Vec::new(),
        inner_leaves: Vec::new(),
    };
    for (leaf, column) in descr.columns().iter().enumerate() {
        let root = descr.get_column_root(leaf);
        if root.is_group() || column.max_rep_level() > 0 {
            if flat.nested.last().is_none_or(|name| name != root.name()) {
                flat.nested.push(root.name().to_string());
            }
            flat.nested_leaves.push(leaf);
            if column.max_rep_level() == 0 {
                flat.inner.push(Field { name: column.path().string(), ..read_field(column)? });
                flat.inner_leaves.push(leaf);
            }
            continue;
        }
        flat.schema.fields.push(read_field(column)?);
        flat.leaves.push(leaf);
    }
    flat.schema.metadata = meta
        .key_value_metadata()
        .into_iter()
        .flatten()
        .map(|entry| KeyValue { key: entry.key.clone(), value: entry.value.clone() })
        .collect();
    Ok(flat)
}

fn read_field(column: &ColumnDescriptor) -> Result<Field> {
    let info = column.self_type().get_basic_info();
    let logical = read_logical(column);
    let unsigned = matches!(logical, LogicalType::Integer { signed: false, .. });
    let length = |n: i32| u32::try_from(n).unwrap_or(0);
    let storage = match column.physical_type() {
        Physical::BOOLEAN => Storage::Boolean,
        Physical::INT32 if unsigned => Storage::Number(NumberType::U32),
        Physical::INT32 => Storage::Number(NumberType::I32),
        Physical::INT64 if unsigned => Storage::Number(NumberType::U64),
        Physical::INT64 => Storage::Number(NumberType::I64),
        Physical::INT96 => Storage::Int96,
        Physical::FLOAT => Storage::Number(NumberType::F32),
        Physical::DOUBLE => Storage::Number(NumberType::F64),
        Physical::BYTE_ARRAY => Storage::Bytes,
        Physical::FIXED_LEN_BYTE_ARRAY => match (&logical, column.type_length()) {
            (LogicalType::Float16, 2) => Storage::Number(NumberType::F16),
            (LogicalType::Decimal { .. }, n @ 1..=16) => {
                Storage::Wide(u8::try_from(n).unwrap_or(16))
            }
            (_, n) => Storage::Fixed(length(n)),
        },
    };
    Ok(Field {
        name: column.name().to_string(),
        storage,
        logical,
        nullable: column.max_def_level() > 0,
        id: info.has_id().then(|| info.id()),
    })
}

fn read_logical(column: &ColumnDescriptor) -> LogicalType {
    let unit = |unit: &ParquetUnit| match unit {
        ParquetUnit::MILLIS => TimeUnit::Millis,
        ParquetUnit::MICROS => TimeUnit::Micros,
        ParquetUnit::NANOS => TimeUnit::Nanos,
    };
    match column.logical_type_ref() {
        Some(ParquetLogical::String) => LogicalType::Text,
        Some(ParquetLogical::Enum) => LogicalType::Enum,
        Some(ParquetLogical::Json) => LogicalType::Json,
        Some(ParquetLogical::Bson) => LogicalType::Bson,
        Some(ParquetLogical::Uuid) => LogicalType::Uuid,
        Some(ParquetLogical::Float16) => LogicalType::Float16,
        Some(ParquetLogical::Unknown) => LogicalType::Unknown,
        Some(ParquetLogical::Date) => LogicalType::Date,
        Some(ParquetLogical::Geometry(geometry)) => {
            LogicalType::Geometry { crs: geometry.crs.clone() }
        }
        Some(ParquetLogical::Decimal(decimal)) => {
            LogicalType::Decimal { precision: decimal.precision, scale: decimal.scale }
        }
        Some(ParquetLogical::Time(time)) => {
            LogicalType::Time { unit: unit(&time.unit), utc: time.is_adjusted_to_u_t_c }
        }
        Some(ParquetLogical::Timestamp(time)) => {
            LogicalType::Timestamp { unit: unit(&time.unit), utc: time.is_adjusted_to_u_t_c }
        }
        Some(ParquetLogical::Integer(int)) => {
            LogicalType::Integer { bits: int.bit_width, signed: int.is_signed }
        }
        // Annotations of other structures, and of times to come: the bytes are kept.
        Some(_) => LogicalType::None,
        None => read_converted(column),
    }
}

/// Annotations of files older than logical types.
fn read_converted(column: &ColumnDescriptor) -> LogicalType {
    use TimeUnit::{Micros, Millis};
    let int = |bits, signed| LogicalType::Integer { bits, signed };
    match column.converted_type() {
        ConvertedType::UTF8 => LogicalType::Text,
        ConvertedType::ENUM => LogicalType::Enum,
        ConvertedType::JSON => LogicalType::Json,
        ConvertedType::BSON => LogicalType::Bson,
        ConvertedType::INTERVAL => LogicalType::Interval,
        ConvertedType::DATE => LogicalType::Date,
        ConvertedType::TIME_MILLIS => LogicalType::Time { unit: Millis, utc: true },
        ConvertedType::TIME_MICROS => LogicalType::Time { unit: Micros, utc: true },
        ConvertedType::TIMESTAMP_MILLIS => LogicalType::Timestamp { unit: Millis, utc: true },
        ConvertedType::TIMESTAMP_MICROS => LogicalType::Timestamp { unit: Micros, utc: true },
        ConvertedType::DECIMAL => {
            LogicalType::Decimal { precision: column.type_precision(), scale: column.type_scale() }
        }
        ConvertedType::UINT_8 => int(8, false),
        ConvertedType::UINT_16 => int(16, false),
        ConvertedType::UINT_32 => int(32, false),
        ConvertedType::UINT_64 => int(64, false),
        ConvertedType::INT_8 => int(8, true),
        ConvertedType::INT_16 => int(16, true),
        ConvertedType::INT_32 => int(32, true),
        ConvertedType::INT_64 => int(64, true),
        ConvertedType::NONE
        | ConvertedType::LIST
        | ConvertedType::MAP
        | ConvertedType::MAP_KEY_VALUE => LogicalType::None,
    }
}

/// The schema of the Parquet file that holds a table.
pub(super) fn write(schema: &Schema) -> Result<TypePtr> {
    let fields = schema
        .fields
        .iter()
        .map(|field| {
            let field_type = write_field(field);
            field_type.map(Arc::new).map_err(|e| e.within(format!("column {}", field.name)))
        })
        .collect::<Result<Vec<_>>>()?;
    let root = Type::group_type_builder("schema").with_fields(fields).build();
    Ok(Arc::new(root.map_err(foreign)?))
}

/// The key-value metadata of a table, for the file's footer.
pub(super) fn write_metadata(schema: &Schema) -> Option<Vec<ParquetKeyValue>> {
    let entries = schema.metadata.iter();
    let entries: Vec<_> = entries
        .map(|entry| ParquetKeyValue { key: entry.key.clone(), value: entry.value.clone() })
        .collect();
    (!entries.is_empty()).then_some(entries)
}

fn write_field(field: &Field) -> Result<Type> {
    let length = |n: u32| i32::try_from(n).map_err(|_| Failure::new("its values are too long"));
    let (physical, length) = match field.storage {
        Storage::Boolean => (Physical::BOOLEAN, -1),
        Storage::Number(t) => match t {
            NumberType::F16 => (Physical::FIXED_LEN_BYTE_ARRAY, 2),
            NumberType::F32 => (Physical::FLOAT, -1),
            NumberType::F64 => (Physical::DOUBLE, -1),
            NumberType::I64 | NumberType::U64 => (Physical::INT64, -1),
            _ => (Physical::INT32, -1),
        },
        Storage::Int96 => (Physical::INT96, -1),
        Storage::Bytes => (Physical::BYTE_ARRAY, -1),
        Storage::Wide(n) => (Physical::FIXED_LEN_BYTE_ARRAY, i32::from(n)),
        Storage::Fixed(n) => (Physical::FIXED_LEN_BYTE_ARRAY, length(n)?),
    };
    let repetition = if field.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let mut builder = Type::primitive_type_builder(&field.name, physical)
        .with_repetition(repetition)
        .with_length(length)
        .with_id(field.id)
        .with_logical_type(write_logical(&field.logical));
    if let LogicalType::Decimal { precision, scale } = field.logical {
        builder = builder.with_precision(precision).with_scale(scale);
    }
    if field.logical == LogicalType::Interval {
        builder = builder.with_converted_type(ConvertedType::INTERVAL);
    }
    builder.build().map_err(foreign)
}

fn write_logical(logical: &LogicalType) -> Option<ParquetLogical> {
    let unit = |unit: TimeUnit| match unit {
        TimeUnit::Millis => ParquetUnit::MILLIS,
        TimeUnit::Micros => ParquetUnit::MICROS,
        TimeUnit::Nanos => ParquetUnit::NANOS,
    };
    Some(match *logical {
        LogicalType::None | LogicalType::Interval => return None,
        LogicalType::Integer { bits, signed } => ParquetLogical::integer(bits, signed),
        LogicalType::Float16 => ParquetLogical::Float16,
        LogicalType::Decimal { precision, scale } => ParquetLogical::decimal(scale, precision),
        LogicalType::Date => ParquetLogical::Date,
        LogicalType::Time { unit: u, utc } => ParquetLogical::time(utc, unit(u)),
        LogicalType::Timestamp { unit: u, utc } => ParquetLogical::timestamp(utc, unit(u)),
        LogicalType::Text => ParquetLogical::String,
        LogicalType::Enum => ParquetLogical::Enum,
        LogicalType::Json => ParquetLogical::Json,
        LogicalType::Bson => ParquetLogical::Bson,
        LogicalType::Uuid => ParquetLogical::Uuid,
        LogicalType::Unknown => ParquetLogical::Unknown,
        LogicalType::Geometry { ref crs } => ParquetLogical::geometry(crs.clone()),
    })
}

/// An error of the `parquet` crate in one line.
pub(super) fn foreign(error: parquet::errors::ParquetError) -> Failure {
    use parquet::errors::ParquetError as E;
    match error {
        E::General(what) => Failure::new(format!("corrupt: {what}")),
        E::EOF(what) => Failure::new(format!("truncated: {what}")),
        E::NYI(what) => Failure::new(format!("not supported: {what}")),
        E::External(source) => match source.downcast::<std::io::Error>() {
            Ok(io) => (*io).into(),
            Err(source) => Failure::new(source.to_string()),
        },
        other => Failure::new(other.to_string()),
    }
}
