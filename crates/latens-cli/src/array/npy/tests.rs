//! Headers there and back, spellings, truncations.

use super::*;

fn parse(bytes: &[u8]) -> Result<(NpyHeader, u64)> {
    NpyHeader::read(&mut &bytes[..])
}

#[test]
fn every_header_comes_back() {
    for ty in NumberType::ALL {
        for big_endian in [false, ty.bytes() > 1] {
            for fortran in [false, true] {
                for shape in [vec![], vec![0], vec![7], vec![3, 0, 5], vec![1; 32]] {
                    let header = NpyHeader { ty, big_endian, fortran, shape };
                    let bytes = header.to_bytes();
                    assert_eq!(bytes.len() % 64, 0);
                    assert_eq!(parse(&bytes).unwrap(), (header, bytes.len() as u64));
                }
            }
        }
    }
}

#[test]
fn as_numpy_writes_it() {
    let bytes = NpyHeader::column(NumberType::F64, 3).to_bytes();
    let mut expected =
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }".to_vec();
    expected.resize(127, b' ');
    expected.push(b'\n');
    assert_eq!(bytes, expected);
    assert_eq!(bytes.len() as u64, COLUMN_HEADER_BYTES);
    let long = NpyHeader::column(NumberType::F64, u64::MAX / 8).to_bytes();
    assert_eq!(long.len(), bytes.len());
}

#[test]
fn a_very_long_shape_takes_version_2() {
    let header = NpyHeader { shape: vec![1; 20_000], ..NpyHeader::column(NumberType::U8, 1) };
    let bytes = header.to_bytes();
    assert_eq!((bytes[6], bytes.len() % 64), (1, 0));
    let header = NpyHeader { shape: vec![1; 30_000], ..header };
    let bytes = header.to_bytes();
    assert_eq!((bytes[6], bytes.len() % 64), (2, 0));
    assert!(parse(&bytes).unwrap_err().to_string().contains("byte 8"));
}

#[test]
fn other_versions_and_spellings() {
    let text = b"{ \"shape\":(2L,3), 'fortran_order' :True,'descr':'=i2'}\n";
    for version in [2u8, 3] {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([version, 0]);
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text);
        let (header, length) = parse(&bytes).unwrap();
        assert_eq!(header.shape, [2, 3]);
        assert_eq!((header.ty, header.fortran, header.big_endian), (NumberType::I16, true, false));
        assert_eq!(length, bytes.len() as u64);
    }
}

#[test]
fn refuses_by_name() {
    for (descr, said) in [
        ("'|b1'", "'|b1'"),
        ("'<c16'", "'<c16'"),
        ("'|O'", "'|O'"),
        ("'|f8'", "'|f8'"),
        ("[('a', '<f8'), ('b', '<i4')]", "[('a', '<f8'), ('b', '<i4')]"),
    ] {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (3,), }}");
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        let message = parse(&bytes).unwrap_err().to_string();
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn every_truncation_says_where() {
    let bytes = NpyHeader::column(NumberType::F64, 3).to_bytes();
    for n in 0..bytes.len() {
        let message = parse(&bytes[..n]).unwrap_err().to_string();
        assert!(message.contains(&format!("byte {n}")), "{n}: {message}");
    }
}
