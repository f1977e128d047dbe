//! Tensors handed to other libraries by DLPack, without a copy.

use crate::error::Result;
use crate::reader::DeviceTensor;
use dlpark::ffi::DLDevice;
use dlpark::metadata::Fixed;
use dlpark::{DlpackElement, Managed, ManagedTensorBase};
use latens::Error;
use std::ffi::c_void;
use std::ptr;

impl DeviceTensor {
    /// The device that it is on, as DLPack names it.
    pub fn dlpack_device(&self) -> DLDevice {
        DLDevice::cuda(i32::try_from(self.ordinal()).unwrap_or(i32::MAX))
    }

    /// Its bytes as a tensor of u8 in one dimension, in either of DLPack's layouts. It shares the
    /// memory, which stays until both are gone, and may be used on any stream.
    ///
    /// # Errors
    /// Invalid argument where DLPack cannot say its length.
    pub fn dlpack<M: ManagedTensorBase>(&self) -> Result<Managed<M>> {
        let (len, device) = (self.len(), self.dlpack_device());
        let data = match usize::try_from(self.address()) {
            Ok(address) if len > 0 => ptr::with_exposed_provenance_mut(address),
            _ => ptr::null_mut(),
        };
        // SAFETY: the clone holds the memory, where these bytes have been written.
        unsafe { managed(Box::new(self.clone()), data, len, device) }
    }
}

/// A tensor of bytes that holds `owner`.
///
/// # Safety
/// `owner` keeps `len` bytes at `data` of `device`'s memory, which have been written and which nobody
/// changes.
unsafe fn managed<M: ManagedTensorBase, O: Send>(
    owner: Box<O>,
    data: *mut c_void,
    len: usize,
    device: DLDevice,
) -> Result<Managed<M>> {
    let n = i64::try_from(len).map_err(|_| Error::invalid(format!("a tensor of {len} bytes")))?;
    let prepared = Fixed::new([n], [1]).prepare_as::<M>();
    let prepared = prepared.map_err(|e| Error::invalid(format!("a tensor for DLPack: {e}")))?;
    let mut tensor = prepared.initialize(owner);
    tensor.set_device(device);
    tensor.set_dtype(u8::DTYPE);
    tensor.set_data(data);
    // SAFETY: the caller's promise; lengths and strides are those of bytes side by side.
    Ok(unsafe { tensor.finish() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use dlpark::ffi::{DLManagedTensor, DLManagedTensorVersioned};
    use std::sync::Arc;

    /// By memory of the host: the tensor says where it is, and holds its owner until it is dropped.
    fn holds_its_owner<M: ManagedTensorBase>() {
        let owner = Arc::new(vec![1u8, 2, 3]);
        let data = owner.as_ptr().cast_mut().cast();
        // SAFETY: the vector is not changed, and the clone holds it.
        let tensor =
            unsafe { managed::<M, _>(Box::new(Arc::clone(&owner)), data, 3, DLDevice::CPU) };
        let tensor = tensor.unwrap();
        let view = tensor.validate().unwrap();
        assert_eq!(view.shape(), [3]);
        // SAFETY: it is on the host.
        assert_eq!(unsafe { view.cpu_slice::<u8>() }.unwrap(), [1, 2, 3]);
        assert_eq!(Arc::strong_count(&owner), 2);
        drop(tensor);
        assert_eq!(Arc::strong_count(&owner), 1);
    }

    #[test]
    fn both_layouts_hold_their_owner() {
        holds_its_owner::<DLManagedTensor>();
        holds_its_owner::<DLManagedTensorVersioned>();
    }
}
