//! Codecs that users have where they do not take Pco: general ones, and Parquet's.

use crate::{Failure, timing};
use latens::AnyNumbers;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;
use std::hint::black_box;
use std::sync::Arc;

/// The level of zstd, alone and in Parquet.
const LEVEL: i32 = 3;

/// What all of them are called, in the order of [`measure`].
pub const NAMES: [&str; 3] = ["zstd -3", "lz4", "Parquet+zstd"];

/// Bytes, and seconds of processor time to compress and to decompress, of each of [`NAMES`].
///
/// # Errors
/// What a library says, and numbers that differ.
pub fn measure(numbers: &AnyNumbers) -> Result<[(usize, f64, f64); 3], Failure> {
    let bytes = numbers.to_le_bytes();
    let zstd = general(
        &bytes,
        |raw| Ok(zstd::bulk::compress(raw, LEVEL)?),
        |packed| Ok(zstd::bulk::decompress(packed, bytes.len())?),
    )?;
    let lz4 = general(
        &bytes,
        |raw| Ok(lz4_flex::block::compress(raw)),
        |packed| Ok(lz4_flex::block::decompress(packed, bytes.len())?),
    )?;
    // As Parquet stores them: 8 and 16 bits as 32, and integers without a sign by their bits.
    let parquet = match numbers {
        AnyNumbers::U8(v) => column::<Int32Type>(&v.iter().map(|&x| x.into()).collect::<Vec<_>>()),
        AnyNumbers::I8(v) => column::<Int32Type>(&v.iter().map(|&x| x.into()).collect::<Vec<_>>()),
        AnyNumbers::U16(v) => column::<Int32Type>(&v.iter().map(|&x| x.into()).collect::<Vec<_>>()),
        AnyNumbers::I16(v) => column::<Int32Type>(&v.iter().map(|&x| x.into()).collect::<Vec<_>>()),
        AnyNumbers::U32(v) => {
            column::<Int32Type>(&v.iter().map(|x| x.cast_signed()).collect::<Vec<_>>())
        }
        AnyNumbers::I32(v) => column::<Int32Type>(v),
        AnyNumbers::U64(v) => {
            column::<Int64Type>(&v.iter().map(|x| x.cast_signed()).collect::<Vec<_>>())
        }
        AnyNumbers::I64(v) => column::<Int64Type>(v),
        AnyNumbers::F32(v) => column::<FloatType>(v),
        AnyNumbers::F64(v) => column::<DoubleType>(v),
        other => Err(format!("no column of {}", other.number_type()).into()),
    }?;
    Ok([zstd, lz4, parquet])
}

/// A codec of bytes.
fn general(
    raw: &[u8],
    pack: impl Fn(&[u8]) -> Result<Vec<u8>, Failure>,
    unpack: impl Fn(&[u8]) -> Result<Vec<u8>, Failure>,
) -> Result<(usize, f64, f64), Failure> {
    let packed = pack(raw)?;
    if unpack(&packed)? != raw {
        return Err("the bytes differ".into());
    }
    let encode = timing::once(&mut || {
        black_box(pack(raw).is_ok());
    });
    let decode = timing::once(&mut || {
        black_box(unpack(&packed).is_ok());
    });
    Ok((packed.len(), encode, decode))
}

/// A Parquet file of one column: encodings by the crate's own choice, pages by zstd.
fn column<D: DataType>(numbers: &[D::T]) -> Result<(usize, f64, f64), Failure>
where
    D::T: PartialEq + Default + Clone,
{
    let file = write::<D>(numbers)?;
    let mut back = Vec::with_capacity(numbers.len());
    read::<D>(&file, &mut back)?;
    // By their bytes: NaNs are not equal to themselves.
    let bytes = |all: &[D::T]| -> Vec<u8> {
        all.iter().flat_map(|x| parquet::data_type::AsBytes::as_bytes(x).to_vec()).collect()
    };
    if bytes(&back) != bytes(numbers) {
        return Err("the numbers differ".into());
    }
    let encode = timing::once(&mut || {
        black_box(write::<D>(numbers).is_ok());
    });
    let decode = timing::once(&mut || {
        back.clear();
        black_box(read::<D>(&file, &mut back).is_ok());
    });
    Ok((file.len(), encode, decode))
}

fn write<D: DataType>(numbers: &[D::T]) -> Result<Vec<u8>, Failure> {
    let field = Type::primitive_type_builder("n", D::get_physical_type());
    let field = field.with_repetition(parquet::basic::Repetition::REQUIRED).build()?;
    let schema = Type::group_type_builder("schema").with_fields(vec![Arc::new(field)]).build()?;
    let zstd = Compression::ZSTD(ZstdLevel::try_new(LEVEL)?);
    let properties = WriterProperties::builder().set_compression(zstd).build();
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, Arc::new(schema), Arc::new(properties))?;
    let mut group = writer.next_row_group()?;
    let mut column = group.next_column()?.ok_or("no column")?;
    column.typed::<D>().write_batch(numbers, None, None)?;
    column.close()?;
    group.close()?;
    writer.close()?;
    Ok(file)
}

fn read<D: DataType>(file: &[u8], out: &mut Vec<D::T>) -> Result<(), Failure> {
    let reader = SerializedFileReader::new(bytes::Bytes::copy_from_slice(file))?;
    let group = reader.get_row_group(0)?;
    let rows = usize::try_from(group.metadata().num_rows())?;
    let mut column = get_typed_column_reader::<D>(group.get_column_reader(0)?);
    while out.len() < rows {
        let (records, _, _) = column.read_records(rows - out.len(), None, None, out)?;
        if records == 0 {
            return Err("fewer numbers than rows".into());
        }
    }
    Ok(())
}
