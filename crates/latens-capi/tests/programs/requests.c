/* What cannot be: NULL, misaligned and overlapping memory, wrong types, lengths and options. */
#include "check.h"

#define REFUSED(call) FAILS(LT_STATUS_INVALID_ARGUMENT, call)

static void pointers(void) {
    lt_error error;
    uint64_t numbers[64], back[64];
    size_t count;
    lt_buffer file, none;
    numbers_of(LT_TYPE_U64, numbers, 64);
    OK(lt_pco_compress(LT_TYPE_U64, numbers, 64, NULL, &file, &error));

    REFUSED(lt_pco_compress(LT_TYPE_U64, NULL, 64, NULL, &none, &error));
    REFUSED(lt_pco_compress(LT_TYPE_U64, numbers, 64, NULL, NULL, &error));
    REFUSED(lt_pco_compress(LT_TYPE_U64, (char *)numbers + 4, 32, NULL, &none, &error));
    CHECK(strstr(error.message, "aligned") != NULL);
    REFUSED(lt_pco_compress(LT_TYPE_U64, numbers, SIZE_MAX, NULL, &none, &error));
    REFUSED(lt_pco_compress(LT_TYPE_U64, numbers, SIZE_MAX / 8, NULL, &none, &error));
    CHECK(none.data == NULL);
    REFUSED(lt_pco_compress_into(LT_TYPE_U64, numbers, 64, NULL, numbers, 64, &count, &error));
    CHECK(strstr(error.message, "overlap") != NULL);
    REFUSED(lt_pco_compress_into(LT_TYPE_U64, numbers, 64, NULL, NULL, 64, &count, &error));
    REFUSED(lt_pco_compress_into(LT_TYPE_U64, numbers, 64, NULL, back, 64, NULL, &error));
    REFUSED(lt_pco_compress_bound(LT_TYPE_U64, 64, NULL, NULL, &error));
    REFUSED(lt_pco_compress_bound(LT_TYPE_U64, SIZE_MAX, NULL, &count, &error));
    REFUSED(lt_pco_decompress(NULL, 9, LT_TYPE_U64, NULL, &none, NULL, NULL, &error));
    REFUSED(lt_pco_decompress(file.data, file.size, LT_TYPE_U64, NULL, NULL, NULL, NULL, &error));
    FAILS(LT_STATUS_TRUNCATED, lt_pco_decompress(NULL, 0, LT_TYPE_U64, NULL, &none, NULL, NULL, &error));
    REFUSED(lt_pco_decompress_into(file.data, file.size, LT_TYPE_U64, NULL, NULL, 64, &count, NULL,
                                   &error));
    REFUSED(lt_pco_decompress_into(file.data, file.size, LT_TYPE_U64, NULL, (char *)back + 1, 60, &count,
                                   NULL, &error));
    REFUSED(lt_pco_decompress_into(file.data, file.size, LT_TYPE_U64, NULL, back, 64, NULL, NULL,
                                   &error));
    uint8_t *shared = exactly(1024);
    memcpy(shared, file.data, file.size);
    REFUSED(lt_pco_decompress_into(shared, file.size, LT_TYPE_U64, NULL, shared, 64, &count, NULL,
                                   &error));
    free(shared);
    /* No room for any number is room for none; without a place for the error all works the same. */
    bool finished = true;
    OK(lt_pco_decompress_into(file.data, file.size, LT_TYPE_U64, NULL, NULL, 0, &count, &finished,
                              &error));
    CHECK(count == 0 && !finished);
    CHECK(lt_pco_compress(LT_TYPE_U64, NULL, 64, NULL, &none, NULL) == LT_STATUS_INVALID_ARGUMENT);
    CHECK(lt_pco_peek(file.data, file.size, NULL, NULL, NULL) == LT_STATUS_OK);
    lt_buffer_free(&file);
    lt_buffer_free(NULL);
}

/* What is told besides the status is set whatever becomes of the call. */
static void after_errors(void) {
    lt_error error;
    lt_buffer out;
    uint64_t number;
    uint32_t type = 77;
    uint64_t hint = 77;
    size_t a = 77, b = 77;
    FAILS(LT_STATUS_CORRUPT, lt_pco_peek("none of these", 13, &type, &hint, &error));
    CHECK(type == LT_TYPE_ANY && hint == 0);
    type = 77;
    FAILS(LT_STATUS_CORRUPT,
          lt_pco_decompress("none of these", 13, LT_TYPE_ANY, NULL, &out, &type, &a, &error));
    CHECK(type == LT_TYPE_ANY && a == 0 && out.data == NULL);
    type = 77, a = 77;
    REFUSED(lt_pco_decompress("x", 1, LT_TYPE_ANY, NULL, NULL, &type, &a, &error));
    CHECK(type == LT_TYPE_ANY && a == 0);
    a = 77;
    REFUSED(lt_pco_compress_bound(LT_TYPE_U64, SIZE_MAX, NULL, &a, &error));
    CHECK(a == 0);
    a = 77;
    FAILS(LT_STATUS_TRUNCATED, lt_dbp_decode("\x80", 1, LT_TYPE_U64, NULL, &out, &a, &b, &error));
    CHECK(a == 0 && b == 0 && out.data == NULL);
    a = b = 77;
    FAILS(LT_STATUS_TRUNCATED,
          lt_dbp_decode_into("\x80", 1, LT_TYPE_U64, NULL, &number, 1, &a, &b, &error));
    CHECK(a == 0 && b == 0);
    a = 77;
    REFUSED(lt_dbp_encode_bound(LT_TYPE_F32, 1, 0, 0, &a, &error));
    CHECK(a == 0);
    a = 77;
    lt_pco_file_decoder *decoder = NULL;
    FAILS(LT_STATUS_TRUNCATED, lt_pco_file_decoder_new("", 0, NULL, &decoder, &a, &error));
    CHECK(a == 0 && decoder == NULL);
    a = 77;
    lt_pco_chunk_decoder *chunk = NULL;
    REFUSED(lt_pco_chunk_decoder_new(NULL, LT_TYPE_U32, "", 0, &chunk, &a, &error));
    CHECK(a == 0 && chunk == NULL);
    a = 77;
    REFUSED(lt_pco_chunk_decoder_page(NULL, "", 0, &number, 1, &a, &error));
    CHECK(a == 0);
    REFUSED(lt_wcodec_find(NULL, "x", &a, &error));
    CHECK(a == SIZE_MAX);
    type = 77, a = 77;
    REFUSED(lt_wcodec_decode_weights(NULL, 0, 0, 1, 0, 1, &number, 4, &type, &a, &error));
    CHECK(type == LT_TYPE_ANY && a == 0);
    /* No numbers overlap nothing, wherever their pointer leads. */
    uint32_t memory[32];
    OK(lt_pco_compress_into(LT_TYPE_U32, memory + 8, 0, NULL, memory, sizeof memory, &a, &error));
    CHECK(a > 0);
}

static void handles(void) {
    lt_error error;
    lt_buffer out;
    size_t size;
    uint32_t number = 1;
    lt_pco_info info;
    lt_pco_chunk_info chunk;
    lt_wcodec_tensor tensor;
    lt_wcodec_layout layout;
    REFUSED(lt_pco_inspect("x", 1, NULL, NULL, &error));
    REFUSED(lt_pco_inspection_file(NULL, &info, &error));
    REFUSED(lt_pco_inspection_chunk(NULL, 0, &chunk, &error));
    lt_pco_inspection_free(NULL);
    REFUSED(lt_pco_file_encoder_new(NULL, NULL, &error));
    REFUSED(lt_pco_file_encoder_header(NULL, &out, &error));
    REFUSED(lt_pco_chunk_encoder_new(NULL, LT_TYPE_U32, &number, 1, &size, 0, NULL, &error));
    REFUSED(lt_pco_chunk_encoder_meta(NULL, &out, &error));
    REFUSED(lt_pco_chunk_encoder_page(NULL, 0, &out, &error));
    CHECK(lt_pco_chunk_encoder_pages(NULL) == 0 && lt_pco_chunk_encoder_mode(NULL) == NULL);
    CHECK(lt_pco_chunk_encoder_delta(NULL) == NULL && lt_pco_chunk_decoder_mode(NULL) == NULL);
    CHECK(lt_pco_chunk_decoder_delta(NULL) == NULL);
    lt_pco_chunk_encoder_free(NULL);
    lt_pco_file_encoder_free(NULL);
    REFUSED(lt_pco_file_decoder_new("\x04\x01", 2, NULL, NULL, &size, &error));
    lt_pco_chunk_decoder *decoder = NULL;
    REFUSED(lt_pco_chunk_decoder_new(NULL, LT_TYPE_U32, "", 0, &decoder, &size, &error));
    REFUSED(lt_pco_chunk_decoder_page(NULL, "", 0, &number, 1, &size, &error));
    REFUSED(lt_pco_chunk_decoder_pages(NULL, NULL, NULL, NULL, 0, NULL, 0, NULL, &error));
    lt_pco_chunk_decoder_free(NULL);
    lt_pco_file_decoder_free(NULL);
    REFUSED(lt_wcodec_open(NULL, NULL, NULL, NULL, &error));
    lt_wcodec_reader *reader = NULL;
    REFUSED(lt_wcodec_open(NULL, NULL, NULL, &reader, &error));
    REFUSED(lt_wcodec_open_memory(NULL, 100, NULL, NULL, &reader, &error));
    lt_wcodec_damage damage;
    REFUSED(lt_wcodec_salvage(NULL, NULL, NULL, &reader, &error));
    REFUSED(lt_wcodec_salvage_memory(NULL, 100, NULL, NULL, &reader, &error));
    REFUSED(lt_wcodec_damage_info(NULL, 0, &damage, &error));
    CHECK(lt_wcodec_damage_count(NULL) == 0);
    lt_wcodec_base base;
    lt_wcodec_file file;
    lt_wcodec_faults *faults = NULL;
    lt_wcodec_fault fault;
    REFUSED(lt_wcodec_find_sized(NULL, "x", 1, &size, &error));
    REFUSED(lt_wcodec_base_info(NULL, &base, &error));
    REFUSED(lt_wcodec_file_info(NULL, 0, &file, &error));
    REFUSED(lt_wcodec_write_file(NULL, 0, NULL, NULL, &error));
    REFUSED(lt_wcodec_find_faults(NULL, &faults, &error));
    REFUSED(lt_wcodec_fault_info(NULL, 0, &fault, &error));
    CHECK(lt_wcodec_file_count(NULL) == 0 && lt_wcodec_fault_count(NULL) == 0);
    lt_wcodec_faults_free(NULL);
    REFUSED(lt_wcodec_find(NULL, "x", &size, &error));
    REFUSED(lt_wcodec_tensor_info(NULL, 0, &tensor, &error));
    REFUSED(lt_wcodec_tensor_layout(NULL, 0, &layout, &error));
    REFUSED(lt_wcodec_decode(NULL, 0, &number, 4, NULL, &error));
    REFUSED(lt_wcodec_decode_rows(NULL, 0, 0, 1, &number, 4, NULL, &error));
    REFUSED(lt_wcodec_decode_weights(NULL, 0, 0, 1, 0, 1, &number, 4, NULL, NULL, &error));
    REFUSED(lt_wcodec_model_hash(NULL, (uint8_t *)&chunk, &error));
    REFUSED(lt_wcodec_verify(NULL, &error));
    CHECK(lt_wcodec_tensor_count(NULL) == 0);
    lt_wcodec_close(NULL);
    REFUSED(lt_dbp_encode(LT_TYPE_U32, NULL, 3, 0, 0, &out, &error));
    REFUSED(lt_dbp_encode(LT_TYPE_U32, &number, 1, 0, 0, NULL, &error));
    REFUSED(lt_dbp_read_header("\x80", 1, NULL, &error));
    REFUSED(lt_dbp_decode("", 0, LT_TYPE_U32, NULL, NULL, NULL, NULL, &error));
    REFUSED(lt_dbp_decode_into("", 0, LT_TYPE_U32, NULL, &number, 1, NULL, NULL, &error));
    REFUSED(lt_dbp_decode_into(NULL, 5, LT_TYPE_U32, NULL, &number, 1, &size, NULL, &error));
}

static void settings(void) {
    lt_error error;
    lt_buffer out;
    uint32_t numbers[4] = {1, 2, 3, 4};
    REFUSED(lt_pco_compress(LT_TYPE_ANY, numbers, 4, NULL, &out, &error));
    REFUSED(lt_pco_compress(12, numbers, 4, NULL, &out, &error));
    REFUSED(lt_pco_compress(LT_TYPE_U32 + 256, numbers, 4, NULL, &out, &error));
    lt_pco_options options;
    const char *modes[] = {"int-mult", "int-mult@0", "int_mult@7", "", "float-mult@1.5", "\xff"};
    for (int i = 0; i < 6; i++) {
        lt_pco_options_init(&options, sizeof options);
        options.mode = modes[i];
        REFUSED(lt_pco_compress(LT_TYPE_U32, numbers, 4, &options, &out, &error));
    }
    lt_pco_options_init(&options, sizeof options);
    options.level = 13;
    REFUSED(lt_pco_compress(LT_TYPE_U32, numbers, 4, &options, &out, &error));
    lt_pco_options_init(&options, sizeof options);
    options.chunk_n = (1 << 24) + 1;
    REFUSED(lt_pco_compress(LT_TYPE_U32, numbers, 4, &options, &out, &error));
    lt_pco_options_init(&options, sizeof options);
    options.checksum = 2;
    REFUSED(lt_pco_compress(LT_TYPE_U32, numbers, 4, &options, &out, &error));
    lt_pco_options_init(&options, sizeof options);
    options.size = 0;
    REFUSED(lt_pco_compress(LT_TYPE_U32, numbers, 4, &options, &out, &error));
    CHECK(strstr(error.message, "lt_pco_options_init") != NULL);
    lt_decode_options decode;
    lt_decode_options_init(&decode, sizeof decode);
    decode.strict = 7;
    REFUSED(lt_dbp_decode("", 0, LT_TYPE_U32, &decode, &out, NULL, NULL, &error));
    lt_pco_options_init(NULL, 100);
    lt_decode_options_init(&decode, 0);

    /* A file of one type, asked for as another. */
    lt_buffer file;
    OK(lt_pco_compress(LT_TYPE_U32, numbers, 4, NULL, &file, &error));
    REFUSED(lt_pco_decompress(file.data, file.size, LT_TYPE_F32, NULL, &out, NULL, NULL, &error));
    lt_buffer_free(&file);
}

void test_requests(void) {
    pointers();
    after_errors();
    handles();
    settings();
}
