/* latens: lossless compression for numbers. Pco, Parquet DELTA_BINARY_PACKED, WCodec.
 *
 * Made from the sources of the crate latens-capi; its README.md has rules and examples. In short:
 * calls return LT_STATUS_OK or what went wrong, and tell an lt_error, which may be NULL, more; what
 * lies in an lt_buffer is freed by lt_buffer_free; options are set by their _init functions, NULL
 * stands for the defaults; every function may be called from any thread, and no handle is freed
 * while another thread uses it.
 *
 * Pointers: where n elements are spoken of, as many are there, or n is 0. Outputs of which it is not
 * said that they may be NULL must not be. Strings end with a NUL.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#ifndef LATENS_H
#define LATENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of this interface: 65536 times a number that changes when programs must be built
// anew, plus one that grows with what is added.
#define LT_ABI_VERSION 6

// In `lt_error`: there is no such number.
#define LT_NONE 18446744073709551615ull

// Bytes of `lt_error.message`, the NUL at its end included.
#define LT_MESSAGE_SIZE 448

// In lt_decode_options: no limit.
#define LT_UNLIMITED 18446744073709551615ull

// Bytes of `lt_wcodec_layout.packing`, the NUL at its end included.
#define LT_PACKING_SIZE 64

// What became of a call. Others may be added.
typedef enum lt_status {
    // All went well.
    LT_STATUS_OK = 0,
    // The bytes are not what the format allows.
    LT_STATUS_CORRUPT = 1,
    // The bytes end before what they announce.
    LT_STATUS_TRUNCATED = 2,
    // The caller asked for something that cannot be: a NULL pointer, a wrong type, a bad setting.
    LT_STATUS_INVALID_ARGUMENT = 3,
    // A file could not be read or written.
    LT_STATUS_IO = 4,
    // A limit was passed that the caller had set. With a higher one the input may be fine.
    LT_STATUS_LIMIT = 5,
    // The output does not fit into the memory that was given for it.
    LT_STATUS_BUFFER_TOO_SMALL = 6,
    // A bug of latens: please report it. The call had no effect that can be relied on; handles it
    // was given may only be closed.
    LT_STATUS_INTERNAL = 7,
    // The caller's lt_watch ended the call.
    LT_STATUS_STOPPED = 8,
} lt_status;

// A type of numbers, by the byte that stands for it in Pco files.
typedef enum lt_type {
    // In a request: the one that the file says. In an answer: the file says none.
    LT_TYPE_ANY = 0,
    LT_TYPE_U32 = 1,
    LT_TYPE_U64 = 2,
    LT_TYPE_I32 = 3,
    LT_TYPE_I64 = 4,
    LT_TYPE_F32 = 5,
    LT_TYPE_F64 = 6,
    LT_TYPE_U16 = 7,
    LT_TYPE_I16 = 8,
    // IEEE half precision; in C an uint16_t with its bits.
    LT_TYPE_F16 = 9,
    LT_TYPE_U8 = 10,
    LT_TYPE_I8 = 11,
} lt_type;

// The metadata of a chunk, with its tables. Several threads may decode pages with it.
typedef struct lt_pco_chunk_decoder lt_pco_chunk_decoder;

// A chunk with everything chosen, ready to be written in parts. Several threads may use it.
typedef struct lt_pco_chunk_encoder lt_pco_chunk_encoder;

// Knows the format version of a wrapped file. Several threads may use it.
typedef struct lt_pco_file_decoder lt_pco_file_decoder;

// Makes the chunks of a wrapped file. Several threads may use it.
typedef struct lt_pco_file_encoder lt_pco_file_encoder;

// A standalone file, taken apart. Several threads may read it.
typedef struct lt_pco_inspection lt_pco_inspection;

// Things that are wrong with a .wcodec file.
typedef struct lt_wcodec_faults lt_wcodec_faults;

// An open .wcodec file. Several threads may read from it.
typedef struct lt_wcodec_reader lt_wcodec_reader;

// Memory that the library allocated and the caller owns, until lt_buffer_free. Of its fields only
// what `data` points to may be changed.
typedef struct lt_buffer {
    // The bytes, or the numbers, aligned as these; NULL where there are none.
    void *data;
    // Bytes.
    size_t size;
    // Bytes allocated; for lt_buffer_free.
    size_t capacity;
    // Their alignment; for lt_buffer_free.
    size_t alignment;
} lt_buffer;

// Is told that `done` more numbers (of a checkpoint: bytes of tensors) of a call are done, 0 where it
// is only asked, and says whether to go on: 0, or anything else to end the call, which fails with
// LT_STATUS_STOPPED. `data` is the caller's, as it stands beside the function in the options.
//
// It is called by whichever threads are at work, the caller's among them, several at once where the
// options say more than one; after it has ended a call others may still come until that returns. It
// must return as a C function does: no exceptions, no longjmp.
typedef int32_t (*lt_watch)(void *data, uint64_t done);

// Settings of an encoder of DELTA_BINARY_PACKED. NULL in place of one stands for the defaults.
typedef struct lt_dbp_options {
    // Bytes of this structure, as lt_dbp_options_init sets it.
    size_t size;
    // Values in a block; 0, which stands for what Parquet writers use.
    size_t block_size;
    // Miniblocks in a block; 0, likewise.
    size_t miniblocks;
    // Told of what is done, and asked whether to go on; NULL.
    lt_watch watch;
    // What it is called with; NULL.
    void *watch_data;
    // Threads at work; 0 for as many as there are cores; 1. The bytes do not depend on it.
    uint32_t threads;
    // 0.
    uint32_t reserved;
} lt_dbp_options;

// What went wrong, and where. It lies in the caller's memory, and need not be initialised: each call
// that is given one writes all of it, also when all went well. Nothing in it is to be freed.
typedef struct lt_error {
    // What the call returned.
    enum lt_status status;
    // 0.
    uint32_t reserved0;
    // Byte of the input that the error is about, or LT_NONE.
    uint64_t offset;
    // Numbers that were written to the caller's memory before a decoder failed: nothing behind them
    // was touched, and they are right unless a checksum is what failed, which is compared behind
    // what it is of, or unless values_right tells of fewer. LT_NONE where this is not said.
    uint64_t values_before;
    // How many of these, from the first one on, are right; those behind them may be anything. LT_NONE where
    // this is not said.
    uint64_t values_right;
    // 0.
    uint64_t reserved[4];
    // The error as a sentence in UTF-8, with place and offset; "" where all went well.
    char message[LT_MESSAGE_SIZE];
} lt_error;

// What a stream says before its first block.
typedef struct lt_dbp_header {
    // Values in the stream. Nothing vouches for it but the blocks.
    uint64_t total_count;
    // The first value, as written: of numbers of 32 bits its low half counts.
    int64_t first_value;
    // Values in a block.
    size_t block_size;
    // Miniblocks in a block.
    size_t miniblocks;
    // Bytes of the header.
    size_t size;
    // 0.
    uint64_t reserved[3];
} lt_dbp_header;

// What a decoder may emit and allocate, and how it works. NULL in place of one stands for the
// defaults, which bound neither output nor memory: set limits where input comes from strangers.
typedef struct lt_decode_options {
    // Bytes of this structure, as lt_decode_options_init sets it.
    size_t size;
    // Most bytes of numbers that may be decoded; LT_UNLIMITED. Of a .wcodec: by one call, what it is asked for, all of
    // a tensor, rows or a slice, also where they go to the caller's memory; all of a tensor where rows cannot be decoded
    // by themselves; of files that are written all of each, and each tensor of one that is verified. It bounds
    // nothing that is told of tensors, such as layouts.
    uint64_t max_output;
    // Most bytes that tables, dictionaries and windows of a chunk may take; LT_UNLIMITED. Of a .wcodec: the
    // index, which is read when it is opened, the tables, a descriptor, each for itself; and, where they have more than
    // max_output, each tensor that explains another one, such as scales, and groups of few bytes that are decoded for a
    // row among them.
    uint64_t max_alloc;
    // Threads at work; 0 for as many as there are cores; 1. With DELTA_BINARY_PACKED more pay to memory
    // that is not in use yet, as lt_dbp_decode's is.
    uint32_t threads;
    // DELTA_BINARY_PACKED: whether what writers must not do is refused, 1 or 0; 0.
    uint32_t strict;
    // DELTA_BINARY_PACKED: the count of values that the stream must have; LT_UNLIMITED for any.
    uint64_t expect_count;
    // Most slots that the tables of a Pco file may have in all beyond eight for each number of their
    // chunk; 2^22, which no file of the encoders known comes near.
    uint64_t max_spare_slots;
    // 0.
    uint64_t reserved;
    // Told of what is done, and asked whether to go on; NULL. Of a .wcodec file it holds, as all
    // options do, until that is closed.
    lt_watch watch;
    // What it is called with; NULL.
    void *watch_data;
} lt_decode_options;

// Settings of a Pco encoder. NULL in place of one stands for the defaults.
typedef struct lt_pco_options {
    // Bytes of this structure, as lt_pco_options_init sets it.
    size_t size;
    // 0 (fastest) to 12 (smallest); 8.
    uint32_t level;
    // Threads at work; 0 for as many as there are cores; 1. The bytes do not depend on it.
    uint32_t threads;
    // "auto", "classic", "int-mult@7", "trend@3600", "float-mult@0.01", "float-quant@29", "dict". NULL: "auto".
    const char *mode;
    // "auto", "none", "consecutive@2", "lookback", "conv1@8"; "+secondary" behind consecutive and
    // lookback covers the secondary latents too. NULL: "auto".
    const char *delta;
    // "speed", "balanced", "size": what may be given up for what. NULL: "balanced".
    const char *favor;
    // Most numbers in a chunk, 1 to 2^24; 0 lets the encoder choose.
    size_t chunk_n;
    // Whether a standalone file ends with checksums, which other readers skip: 1 or 0; 1.
    uint32_t checksum;
    // 0.
    uint32_t reserved;
    // Told of what is done, and asked whether to go on; NULL.
    lt_watch watch;
    // What it is called with; NULL.
    void *watch_data;
} lt_pco_options;

// Facts about a standalone file.
typedef struct lt_pco_info {
    // Numbers in the file.
    uint64_t n;
    // Chunks in the file.
    size_t chunks;
    // Bytes of the file, its trailer included; there may be others behind.
    uint64_t bytes;
    // lt_type; LT_TYPE_ANY for an empty file that says none.
    uint32_t number_type;
    // 0 to 3.
    uint32_t standalone_version;
    // Of the format inside: 0 to 4.
    uint32_t format_major;
    // Of the format inside.
    uint32_t format_minor;
    // Whether there was a checksum trailer; it was verified.
    bool checksum;
    // Whether bytes follow that do not belong to the file.
    bool trailing;
    // 0.
    uint64_t reserved[4];
} lt_pco_info;

// Facts about a chunk.
typedef struct lt_pco_chunk_info {
    // Numbers in the chunk.
    uint64_t n;
    // Of its first byte, from the start of the file.
    uint64_t offset;
    // Its bytes.
    uint64_t bytes;
    // How numbers split into latents, as options spell it. It lives as long as the inspection.
    const char *mode;
    // How latents are predicted, likewise.
    const char *delta;
    // 0.
    uint64_t reserved[4];
} lt_pco_chunk_info;

// What a file says of a tensor. The pointers live until the file is closed.
typedef struct lt_wcodec_tensor {
    // Its name in UTF-8, with a NUL at the end.
    const char *name;
    // Bytes of the name without that NUL; names may hold others.
    size_t name_size;
    // Its type as the checkpoint spells it: "BF16", "I8", "Q4_K".
    const char *dtype;
    // Its dimensions, the one that varies fastest last.
    const uint64_t *shape;
    // How many dimensions.
    size_t dimensions;
    // Bytes when decoded.
    uint64_t bytes;
    // Bytes in the file; 0 where it shares those of another tensor.
    uint64_t stored_bytes;
    // The index of the tensor whose bytes it shares, or LT_NONE where it has its own.
    uint64_t copy_of;
    // 0.
    uint64_t reserved[3];
} lt_wcodec_tensor;

// The checkpoint against which a file was coded. The pointer lives until the file is closed.
typedef struct lt_wcodec_base {
    // The name of its file in UTF-8, with a NUL at the end: a hint for people. NULL where the file needs no base.
    const char *name;
    // Bytes of the name without that NUL; it may hold others.
    size_t name_size;
    // Its model hash, as lt_wcodec_model_hash gives it: what tells it from others. 0 where there is none.
    uint8_t model_hash[32];
    // 0.
    uint64_t reserved[4];
} lt_wcodec_base;

// The matrix of logical weights that a tensor holds, after unpacking.
typedef struct lt_wcodec_layout {
    // Rows.
    uint64_t rows;
    // Weights a row.
    uint64_t columns;
    // A word for how they are packed, for people.
    char packing[LT_PACKING_SIZE];
    // 0.
    uint64_t reserved[4];
} lt_wcodec_layout;

// Something that is wrong with a file. The pointer lives as long as the lt_wcodec_faults.
typedef struct lt_wcodec_fault {
    // The index of the tensor that cannot be read, or LT_NONE where it is something else of the file.
    uint64_t tensor;
    // Its byte in the file, or LT_NONE.
    uint64_t offset;
    // What it is, as in lt_error.message but of any length.
    const char *what;
    // What a call would return that comes upon it.
    enum lt_status status;
    // 0.
    uint32_t reserved0;
    // 0.
    uint64_t reserved[4];
} lt_wcodec_fault;

// A file that a .wcodec was made of. The pointer lives until the .wcodec is closed.
typedef struct lt_wcodec_file {
    // Its name in UTF-8, with a NUL at the end. It is a stranger's: whoever makes a path of it looks for
    // separators first.
    const char *name;
    // Bytes of the name without that NUL; names may hold others.
    size_t name_size;
    // Bytes of the file.
    uint64_t bytes;
    // 0.
    uint64_t reserved[4];
} lt_wcodec_file;

// Takes `size` bytes at `bytes`, which are there until it returns, and says whether to go on: 0, or anything else to
// end the call, which fails with LT_STATUS_STOPPED. `data` is the caller's, as it was given beside the function.
//
// It is called in the order of the bytes, and by the thread that made the call. It must return as a C function does:
// no exceptions, no longjmp.
typedef int32_t (*lt_sink)(void *data, const void *bytes, size_t size);

// Something that is wrong with a file beside its tensors. The pointer lives until the file is closed.
typedef struct lt_wcodec_damage {
    // Its byte in the file.
    uint64_t offset;
    // What it is, and what was done about it.
    const char *what;
    // 0.
    uint64_t reserved[2];
} lt_wcodec_damage;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// LT_ABI_VERSION of the library in use. Its upper half must be that of the header.
uint32_t lt_abi_version(void);

// The version of the library, such as "0.1.0". It is never freed.
const char *lt_version(void);

// Frees what a function of this library has put into `buffer`, and empties it, so that freeing it
// again does nothing. NULL is no error.
void lt_buffer_free(struct lt_buffer *buffer);

// Fills `options`, which has `size` (sizeof *options) bytes, with the defaults.
void lt_dbp_options_init(struct lt_dbp_options *options, size_t size);

// Encodes `n` values of LT_TYPE_I32, I64, U32 or U64 to `stream`, which the caller frees. Blocks have
// `block_size` values in `miniblocks` miniblocks; 0 and 0 stand for what Parquet writers use.
enum lt_status lt_dbp_encode(uint32_t type,
                             const void *values,
                             size_t n,
                             size_t block_size,
                             size_t miniblocks,
                             struct lt_buffer *stream,
                             struct lt_error *error);

// lt_dbp_encode with `options`, which may be NULL.
enum lt_status lt_dbp_encode_with(uint32_t type,
                                  const void *values,
                                  size_t n,
                                  const struct lt_dbp_options *options,
                                  struct lt_buffer *stream,
                                  struct lt_error *error);

// The most bytes that the stream of `n` values takes: `*bound`.
enum lt_status lt_dbp_encode_bound(uint32_t type,
                                   size_t n,
                                   size_t block_size,
                                   size_t miniblocks,
                                   size_t *bound,
                                   struct lt_error *error);

// Like lt_dbp_encode, into `capacity` bytes at `stream`; `*written` is how many it takes. Where they
// do not suffice the call fails with LT_STATUS_BUFFER_TOO_SMALL, and what they hold is not said;
// nothing behind them is touched.
enum lt_status lt_dbp_encode_into(uint32_t type,
                                  const void *values,
                                  size_t n,
                                  size_t block_size,
                                  size_t miniblocks,
                                  void *stream,
                                  size_t capacity,
                                  size_t *written,
                                  struct lt_error *error);

// lt_dbp_encode_into with `options`, which may be NULL; it works on one thread.
enum lt_status lt_dbp_encode_into_with(uint32_t type,
                                       const void *values,
                                       size_t n,
                                       const struct lt_dbp_options *options,
                                       void *stream,
                                       size_t capacity,
                                       size_t *written,
                                       struct lt_error *error);

// Reads the header at the start of a stream.
enum lt_status lt_dbp_read_header(const void *stream,
                                  size_t stream_size,
                                  struct lt_dbp_header *header,
                                  struct lt_error *error);

// Decodes the stream at the start of `stream` to `values`, which the caller frees. `count` is told how
// many there are, `consumed` how many bytes they take; both may be NULL, and
// are 0 after an error. `options` may be NULL.
enum lt_status lt_dbp_decode(const void *stream,
                             size_t stream_size,
                             uint32_t type,
                             const struct lt_decode_options *options,
                             struct lt_buffer *values,
                             size_t *count,
                             size_t *consumed,
                             struct lt_error *error);

// Decodes the stream at the start of `stream` directly to `values`, which has room for `capacity`
// values. `*count` is how many there are. Where there is not room for all the call fails with
// LT_STATUS_BUFFER_TOO_SMALL; lt_dbp_read_header says how many there are. Nothing behind `*count`
// values is touched; after an error nothing behind its `values_before`. `consumed` and `options` may
// be NULL.
enum lt_status lt_dbp_decode_into(const void *stream,
                                  size_t stream_size,
                                  uint32_t type,
                                  const struct lt_decode_options *options,
                                  void *values,
                                  size_t capacity,
                                  size_t *count,
                                  size_t *consumed,
                                  struct lt_error *error);

// The name of a status, such as "corrupt"; "unknown" for others. It is never freed.
const char *lt_status_name(uint32_t status);

// Bytes of a number of a type: 1, 2, 4 or 8; 0 where there is no such type.
size_t lt_type_size(uint32_t type);

// Fills `options`, which has `size` (sizeof *options) bytes, with the defaults.
void lt_pco_options_init(struct lt_pco_options *options, size_t size);

// Fills `options`, which has `size` (sizeof *options) bytes, with the defaults.
void lt_decode_options_init(struct lt_decode_options *options, size_t size);

// Compresses `n` numbers of a type (lt_type), which `numbers` points to, to a standalone file in
// `file`, which the caller frees. `options` may be NULL.
enum lt_status lt_pco_compress(uint32_t type,
                               const void *numbers,
                               size_t n,
                               const struct lt_pco_options *options,
                               struct lt_buffer *file,
                               struct lt_error *error);

// The most bytes that lt_pco_compress makes of `n` numbers of a type: `*bound`. With mode and delta
// left to the encoder these are the numbers' own, 40 for each chunk and 64. Where one is forced the
// bound follows from the format alone, and is several times the size of the numbers; what comes out
// is, as a rule, smaller than they are.
enum lt_status lt_pco_compress_bound(uint32_t type,
                                     size_t n,
                                     const struct lt_pco_options *options,
                                     size_t *bound,
                                     struct lt_error *error);

// Like lt_pco_compress, into `capacity` bytes at `file`; `*written` is how many it takes. Where they
// do not suffice the call fails with LT_STATUS_BUFFER_TOO_SMALL, and what they hold is not said;
// nothing behind them is touched. lt_pco_compress_bound says what always suffices.
enum lt_status lt_pco_compress_into(uint32_t type,
                                    const void *numbers,
                                    size_t n,
                                    const struct lt_pco_options *options,
                                    void *file,
                                    size_t capacity,
                                    size_t *written,
                                    struct lt_error *error);

// What the head of a standalone file says: the type of its numbers (LT_TYPE_ANY for an empty file
// that says none), and how many there are, a hint that nothing vouches for. Either may be NULL; both
// are 0 after an error.
enum lt_status lt_pco_peek(const void *file,
                           size_t file_size,
                           uint32_t *type,
                           uint64_t *n_hint,
                           struct lt_error *error);

// Decompresses a standalone file to numbers of a type, LT_TYPE_ANY for that of the file, in
// `numbers`, which the caller frees. `found` is told the type, `count` how many; both may be NULL,
// and are 0 after an error. `options` may be NULL. A checksum trailer is verified.
enum lt_status lt_pco_decompress(const void *file,
                                 size_t file_size,
                                 uint32_t type,
                                 const struct lt_decode_options *options,
                                 struct lt_buffer *numbers,
                                 uint32_t *found,
                                 size_t *count,
                                 struct lt_error *error);

// Decompresses a standalone file to the caller's memory, which has room for `capacity` numbers of a
// type and is written to directly. `*count` is how many were written, `*finished` whether these were
// all: less room than numbers is no error. Nothing behind `*count` numbers is touched; after an error
// nothing behind its `values_before`. `options` and `finished` may be NULL.
enum lt_status lt_pco_decompress_into(const void *file,
                                      size_t file_size,
                                      uint32_t type,
                                      const struct lt_decode_options *options,
                                      void *numbers,
                                      size_t capacity,
                                      size_t *count,
                                      bool *finished,
                                      struct lt_error *error);

// Takes a standalone file apart, which decodes all of it: `*inspection`, to be freed by
// lt_pco_inspection_free. `options` may be NULL.
enum lt_status lt_pco_inspect(const void *file,
                              size_t file_size,
                              const struct lt_decode_options *options,
                              struct lt_pco_inspection **inspection,
                              struct lt_error *error);

// Facts about the file.
enum lt_status lt_pco_inspection_file(const struct lt_pco_inspection *inspection,
                                      struct lt_pco_info *info,
                                      struct lt_error *error);

// Facts about chunk `index`, which counts from 0.
enum lt_status lt_pco_inspection_chunk(const struct lt_pco_inspection *inspection,
                                       size_t index,
                                       struct lt_pco_chunk_info *info,
                                       struct lt_error *error);

// Frees an inspection. NULL is no error.
void lt_pco_inspection_free(struct lt_pco_inspection *inspection);

// Opens the file at `path`: `*reader`, to be closed by lt_wcodec_close. Its head and index are read,
// nothing else. `base` is the path of the checkpoint against which the file was coded, NULL where
// there is none: of a .wcodec, which must not need a base itself, the same is read, of other checkpoints all,
// for the model hash. What is wrong with a base is told with its path, and without lt_error.offset. Paths are those of
// regular files: others are refused before they are opened. `options`, which hold until the file is closed, may be
// NULL.
enum lt_status lt_wcodec_open(const char *path,
                              const char *base,
                              const struct lt_decode_options *options,
                              struct lt_wcodec_reader **reader,
                              struct lt_error *error);

// Opens a file that lies in memory, as lt_wcodec_open does. The memory is not copied: it stays as it
// is until the file is closed.
enum lt_status lt_wcodec_open_memory(const void *file,
                                     size_t file_size,
                                     const char *base,
                                     const struct lt_decode_options *options,
                                     struct lt_wcodec_reader **reader,
                                     struct lt_error *error);

// Closes a file. NULL is no error.
void lt_wcodec_close(struct lt_wcodec_reader *reader);

// Tensors of a file, which are counted from 0; 0 for NULL.
size_t lt_wcodec_tensor_count(const struct lt_wcodec_reader *reader);

// The index of the tensor of a name: `*index`. After an error it is SIZE_MAX, which no tensor has.
enum lt_status lt_wcodec_find(const struct lt_wcodec_reader *reader,
                              const char *name,
                              size_t *index,
                              struct lt_error *error);

// lt_wcodec_find for a name of `name_size` bytes, which need no NUL behind them and may hold some.
enum lt_status lt_wcodec_find_sized(const struct lt_wcodec_reader *reader,
                                    const char *name,
                                    size_t name_size,
                                    size_t *index,
                                    struct lt_error *error);

// What the file says of tensor `index`.
enum lt_status lt_wcodec_tensor_info(const struct lt_wcodec_reader *reader,
                                     size_t index,
                                     struct lt_wcodec_tensor *info,
                                     struct lt_error *error);

// The checkpoint against which the file was coded, if it was: without it tensors that are coded against it cannot be
// decoded, and it is to be given when the file is opened. Known before that.
enum lt_status lt_wcodec_base_info(const struct lt_wcodec_reader *reader,
                                   struct lt_wcodec_base *info,
                                   struct lt_error *error);

// SHA-256 over names, types, shapes and bytes of all tensors, to 32 bytes at `hash`.
enum lt_status lt_wcodec_model_hash(const struct lt_wcodec_reader *reader,
                                    uint8_t *hash,
                                    struct lt_error *error);

// Decodes tensor `index` to `capacity` bytes at `data`, as they were in the checkpoint; `*written`,
// unless NULL, is how many it takes: lt_wcodec_tensor_info told before. Groups are
// decoded to where they belong, by each thread its own. After an error only the first lt_error.values_before
// bytes of `data` have changed (none, where that is LT_NONE). Of these the first lt_error.values_right are
// right; the others may be anything.
enum lt_status lt_wcodec_decode(const struct lt_wcodec_reader *reader,
                                size_t index,
                                void *data,
                                size_t capacity,
                                size_t *written,
                                struct lt_error *error);

// Decodes `rows` rows of the first dimension of tensor `index`, from row `first` on, as
// lt_wcodec_decode does all of them, also after an error. Of a tensor whose rows lie in the checkpoint as they are, only the
// groups that hold these are read.
enum lt_status lt_wcodec_decode_rows(const struct lt_wcodec_reader *reader,
                                     size_t index,
                                     uint64_t first,
                                     uint64_t rows,
                                     void *data,
                                     size_t capacity,
                                     size_t *written,
                                     struct lt_error *error);

// Rows and columns of the logical weights of tensor `index`: of what is packed, after unpacking.
enum lt_status lt_wcodec_tensor_layout(const struct lt_wcodec_reader *reader,
                                       size_t index,
                                       struct lt_wcodec_layout *layout,
                                       struct lt_error *error);

// Decodes the weights of `rows` rows from `first_row` on and `columns` columns from `first_column` on
// of tensor `index`, row by row, to `capacity` bytes at `data`. `*type`, unless NULL, is
// LT_TYPE_I8 or LT_TYPE_U8 for packed integers, one a byte, and LT_TYPE_ANY for numbers of the
// tensor's own type; `*written`, unless NULL, is how many bytes there are. Only the groups that hold
// these rows are read; the weights pass through memory of their own size.
enum lt_status lt_wcodec_decode_weights(const struct lt_wcodec_reader *reader,
                                        size_t index,
                                        uint64_t first_row,
                                        uint64_t rows,
                                        uint64_t first_column,
                                        uint64_t columns,
                                        void *data,
                                        size_t capacity,
                                        uint32_t *type,
                                        size_t *written,
                                        struct lt_error *error);

// Decodes everything in the file, and checks every checksum, all padding and the model hash.
enum lt_status lt_wcodec_verify(const struct lt_wcodec_reader *reader, struct lt_error *error);

// Finds all that is wrong with a file of which lt_wcodec_verify tells the first thing: `*faults`, to be freed by
// lt_wcodec_faults_free, which may be none. It goes on behind damage, one tensor after the other: of each it tells the
// first thing that is wrong, and every other group without its checksum. A tensor that needs a base which was not
// given is among them. What ends the search is an error: one of reading the file, a limit, the watch.
enum lt_status lt_wcodec_find_faults(const struct lt_wcodec_reader *reader,
                                     struct lt_wcodec_faults **faults,
                                     struct lt_error *error);

// How many there are; 0 for NULL.
size_t lt_wcodec_fault_count(const struct lt_wcodec_faults *faults);

// Fault `index`, counted from 0 in the order of the file.
enum lt_status lt_wcodec_fault_info(const struct lt_wcodec_faults *faults,
                                    size_t index,
                                    struct lt_wcodec_fault *info,
                                    struct lt_error *error);

// Frees what lt_wcodec_find_faults has found. NULL is no error.
void lt_wcodec_faults_free(struct lt_wcodec_faults *faults);

// Files that a .wcodec was made of, which are counted from 0; 0 for NULL.
size_t lt_wcodec_file_count(const struct lt_wcodec_reader *reader);

// Name and length of file `index`.
enum lt_status lt_wcodec_file_info(const struct lt_wcodec_reader *reader,
                                   size_t index,
                                   struct lt_wcodec_file *info,
                                   struct lt_error *error);

// Hands file `index` to `sink`, byte for byte as it was, some megabytes of it in memory at a time. After an error
// what was handed over before is what the file begins with.
enum lt_status lt_wcodec_write_file(const struct lt_wcodec_reader *reader,
                                    size_t index,
                                    lt_sink sink,
                                    void *sink_data,
                                    struct lt_error *error);

// Opens a file as lt_wcodec_open does, and one whose header, index, footer or tables are damaged as far
// as that goes: a flipped bit is put right in memory, of an index that is damaged otherwise the tensors
// before the damage are there. Tensors are compared with their checksums as ever; small ones, which stand in the
// index, are errors where nothing proves what it says of them.
// lt_wcodec_damage_count and lt_wcodec_damage_info say what is wrong.
enum lt_status lt_wcodec_salvage(const char *path,
                                 const char *base,
                                 const struct lt_decode_options *options,
                                 struct lt_wcodec_reader **reader,
                                 struct lt_error *error);

// lt_wcodec_salvage for a file that lies in memory, which stays as it is until the file is closed.
enum lt_status lt_wcodec_salvage_memory(const void *file,
                                        size_t file_size,
                                        const char *base,
                                        const struct lt_decode_options *options,
                                        struct lt_wcodec_reader **reader,
                                        struct lt_error *error);

// How many things are wrong with a file that lt_wcodec_salvage has opened; 0 for others, and for NULL.
size_t lt_wcodec_damage_count(const struct lt_wcodec_reader *reader);

// What is wrong, in the order in which it was found: the thing `index`, counted from 0.
enum lt_status lt_wcodec_damage_info(const struct lt_wcodec_reader *reader,
                                     size_t index,
                                     struct lt_wcodec_damage *info,
                                     struct lt_error *error);

// Reads the header at the start of `src`: `*decoder`, to be freed by lt_pco_file_decoder_free, and in
// `*consumed`, unless NULL, the bytes it takes. `options`, which bound the chunks and watch their
// pages until the last of the chunks is freed, may be NULL.
enum lt_status lt_pco_file_decoder_new(const void *src,
                                       size_t src_size,
                                       const struct lt_decode_options *options,
                                       struct lt_pco_file_decoder **decoder,
                                       size_t *consumed,
                                       struct lt_error *error);

// Reads the metadata of a chunk of numbers of a type at the start of `src`: `*chunk`, to be freed by
// lt_pco_chunk_decoder_free, and in `*consumed`, unless NULL, the bytes it takes.
enum lt_status lt_pco_chunk_decoder_new(const struct lt_pco_file_decoder *decoder,
                                        uint32_t type,
                                        const void *src,
                                        size_t src_size,
                                        struct lt_pco_chunk_decoder **chunk,
                                        size_t *consumed,
                                        struct lt_error *error);

// The mode of a chunk, as options spell it. It lives as long as the chunk; NULL for NULL.
const char *lt_pco_chunk_decoder_mode(const struct lt_pco_chunk_decoder *chunk);

// The delta encoding of a chunk, likewise.
const char *lt_pco_chunk_decoder_delta(const struct lt_pco_chunk_decoder *chunk);

// Decodes the page at the start of `src`, which has exactly `n` numbers, directly to `numbers`, and
// tells `consumed`, unless NULL, the bytes it takes; others behind do no harm. After an error nothing
// behind the error's `values_before` numbers was touched.
enum lt_status lt_pco_chunk_decoder_page(const struct lt_pco_chunk_decoder *chunk,
                                         const void *src,
                                         size_t src_size,
                                         void *numbers,
                                         size_t n,
                                         size_t *consumed,
                                         struct lt_error *error);

// Decodes `pages` pages, those at the starts of `srcs`, of `src_sizes` bytes, which have exactly `lens` numbers each: one behind
// the other to `numbers`, which has room for all of these, `n`. Tells `consumed`, unless NULL, how many bytes each
// takes. What lt_pco_chunk_decoder_page does page by page, in less time where a dozen or more short pages of as many numbers
// each follow one another. After an error, which names its page, nothing behind the error's `values_before` numbers was
// touched, and `consumed` is as it was.
enum lt_status lt_pco_chunk_decoder_pages(const struct lt_pco_chunk_decoder *chunk,
                                          const void *const *srcs,
                                          const size_t *src_sizes,
                                          const size_t *lens,
                                          size_t pages,
                                          void *numbers,
                                          size_t n,
                                          size_t *consumed,
                                          struct lt_error *error);

// Frees a chunk. NULL is no error.
void lt_pco_chunk_decoder_free(struct lt_pco_chunk_decoder *chunk);

// Frees a file decoder; its chunks live on. NULL is no error.
void lt_pco_file_decoder_free(struct lt_pco_file_decoder *decoder);

// Begins a wrapped file: `*encoder`, to be freed by lt_pco_file_encoder_free. `options` may be NULL;
// of them level, mode, delta, favor and watch count, the last for chunks until the encoder is freed.
enum lt_status lt_pco_file_encoder_new(const struct lt_pco_options *options,
                                       struct lt_pco_file_encoder **encoder,
                                       struct lt_error *error);

// The header of the file, in `header`, which the caller frees.
enum lt_status lt_pco_file_encoder_header(const struct lt_pco_file_encoder *encoder,
                                          struct lt_buffer *header,
                                          struct lt_error *error);

// Plans a chunk of `n` numbers of a type, in `pages` pages of `page_lens` numbers each, none of them
// 0, which sum to `n`: `*chunk`, to be freed by lt_pco_chunk_encoder_free. It does not need `numbers`
// any longer.
enum lt_status lt_pco_chunk_encoder_new(const struct lt_pco_file_encoder *encoder,
                                        uint32_t type,
                                        const void *numbers,
                                        size_t n,
                                        const size_t *page_lens,
                                        size_t pages,
                                        struct lt_pco_chunk_encoder **chunk,
                                        struct lt_error *error);

// The mode of a chunk, as options spell it. It lives as long as the chunk; NULL for NULL.
const char *lt_pco_chunk_encoder_mode(const struct lt_pco_chunk_encoder *chunk);

// The delta encoding of a chunk, likewise.
const char *lt_pco_chunk_encoder_delta(const struct lt_pco_chunk_encoder *chunk);

// Pages of a chunk; 0 for NULL.
size_t lt_pco_chunk_encoder_pages(const struct lt_pco_chunk_encoder *chunk);

// The metadata of a chunk, in `meta`, which the caller frees. Every page needs it to be decoded.
enum lt_status lt_pco_chunk_encoder_meta(const struct lt_pco_chunk_encoder *chunk,
                                         struct lt_buffer *meta,
                                         struct lt_error *error);

// Page `index`, which counts from 0, in `page`, which the caller frees. The container keeps its size
// and its count of numbers.
enum lt_status lt_pco_chunk_encoder_page(const struct lt_pco_chunk_encoder *chunk,
                                         size_t index,
                                         struct lt_buffer *page,
                                         struct lt_error *error);

// Frees a chunk. NULL is no error.
void lt_pco_chunk_encoder_free(struct lt_pco_chunk_encoder *chunk);

// Frees a file encoder; its chunks live on. NULL is no error.
void lt_pco_file_encoder_free(struct lt_pco_file_encoder *encoder);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* LATENS_H */
