/* DELTA_BINARY_PACKED. */
#include "check.h"

static void round_trip(uint32_t type, size_t n, size_t block_size, size_t miniblocks) {
    lt_error error;
    size_t width = lt_type_size(type), bytes = n * width;
    void *values = exactly(bytes), *back = exactly(bytes);
    numbers_of(type, values, n);
    lt_buffer stream, again;
    OK(lt_dbp_encode(type, values, n, block_size, miniblocks, &stream, &error));
    size_t bound, written, count, consumed;
    OK(lt_dbp_encode_bound(type, n, block_size, miniblocks, &bound, &error));
    CHECK(stream.size <= bound);
    size_t rooms[] = {bound, stream.size, stream.size - 1, 0};
    for (int i = 0; i < 4; i++) {
        uint8_t *room = exactly(rooms[i]);
        lt_status status = lt_dbp_encode_into(type, values, n, block_size, miniblocks, room, rooms[i],
                                              &written, &error);
        CHECK(status == (i < 2 ? LT_STATUS_OK : LT_STATUS_BUFFER_TOO_SMALL));
        CHECK(i >= 2 || (written == stream.size && memcmp(room, stream.data, written) == 0));
        free(room);
    }
    lt_dbp_header header;
    OK(lt_dbp_read_header(stream.data, stream.size, &header, &error));
    CHECK(header.total_count == n && header.size <= stream.size);
    CHECK(header.block_size == (block_size ? block_size : width * 32));
    CHECK(header.miniblocks == (miniblocks ? miniblocks : 4));

    OK(lt_dbp_decode(stream.data, stream.size, type, NULL, &again, &count, &consumed, &error));
    CHECK(count == n && consumed == stream.size && again.size == bytes);
    CHECK(bytes == 0 || memcmp(again.data, values, bytes) == 0);
    lt_buffer_free(&again);
    OK(lt_dbp_decode_into(stream.data, stream.size, type, NULL, back, n, &count, NULL, &error));
    CHECK(count == n && (bytes == 0 || memcmp(back, values, bytes) == 0));

    if (n > 300) {
        memset(back, 0x5a, bytes);
        FAILS(LT_STATUS_BUFFER_TOO_SMALL, lt_dbp_decode_into(stream.data, stream.size, type, NULL, back,
                                                             n - 1, &count, NULL, &error));
        CHECK(count == 0 && ((uint8_t *)back)[0] == 0x5a);
        for (size_t size = 1; size < stream.size; size += 13) {
            memset(back, 0x5a, bytes);
            uint8_t *cut = copy_of(stream.data, size);
            lt_status status =
                lt_dbp_decode_into(cut, size, type, NULL, back, n, &count, NULL, &error);
            /* The padding of the last miniblock is not missed. */
            CHECK(status == LT_STATUS_TRUNCATED || (status == LT_STATUS_OK && count == n));
            CHECK(status == LT_STATUS_OK || (error.offset <= size && count == 0));
            CHECK(status == LT_STATUS_TRUNCATED || size > stream.size / 2);
            size_t before = error.values_before == LT_NONE ? count : (size_t)error.values_before;
            CHECK(memcmp(back, values, before * width) == 0);
            for (size_t i = before * width; i < bytes; i++) CHECK(((uint8_t *)back)[i] == 0x5a);
            CHECK(lt_dbp_decode(cut, size, type, NULL, &again, NULL, NULL, &error) == status);
            CHECK((again.data != NULL) == (status == LT_STATUS_OK));
            lt_buffer_free(&again);
            free(cut);
        }
    }
    lt_buffer_free(&stream);
    free(values);
    free(back);
}

void test_dbp(void) {
    uint32_t types[] = {LT_TYPE_I32, LT_TYPE_I64, LT_TYPE_U32, LT_TYPE_U64};
    for (int i = 0; i < 4; i++) {
        size_t counts[] = {0, 1, 2, 257, 5000};
        for (int j = 0; j < 5; j++) {
            round_trip(types[i], counts[j], 0, 0);
            round_trip(types[i], counts[j], 2048, 8);
        }
    }
    lt_error error;
    lt_buffer out;
    int64_t values[4] = {1, 2, 3, 4};
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_dbp_encode(LT_TYPE_F64, values, 4, 0, 0, &out, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_dbp_encode(LT_TYPE_I64, values, 4, 100, 4, &out, &error));
    CHECK(out.data == NULL);

    lt_dbp_header header;
    FAILS(LT_STATUS_CORRUPT, lt_dbp_read_header("\x07\x04\x05\x02", 4, &header, &error));
    CHECK(error.offset == 0);
    OK(lt_dbp_read_header("\x80\x01\x04\x05\x02", 5, &header, &error));
    CHECK(header.total_count == 5 && header.first_value == 1 && header.size == 5);

    /* A few bytes for very many equal numbers, and a count that is not the page's. */
    lt_decode_options options;
    lt_decode_options_init(&options, sizeof options);
    options.max_output = 1000;
    const char *many = "\x80\x01\x04\x80\x80\x80\x80\x80\x01\x02";
    size_t count;
    FAILS(LT_STATUS_LIMIT, lt_dbp_decode_into(many, 10, LT_TYPE_I64, &options, values, 4, &count, NULL,
                                              &error));
    FAILS(LT_STATUS_LIMIT, lt_dbp_decode(many, 10, LT_TYPE_I64, &options, &out, NULL, NULL, &error));
    lt_decode_options_init(&options, sizeof options);
    options.expect_count = 5;
    OK(lt_dbp_encode(LT_TYPE_I64, values, 4, 0, 0, &out, &error));
    lt_buffer again;
    lt_status status =
        lt_dbp_decode(out.data, out.size, LT_TYPE_I64, &options, &again, NULL, NULL, &error);
    CHECK(status != LT_STATUS_OK && again.data == NULL);
    options.expect_count = 4;
    options.strict = 1;
    OK(lt_dbp_decode(out.data, out.size, LT_TYPE_I64, &options, &again, NULL, NULL, &error));
    lt_buffer_free(&again);
    lt_buffer_free(&out);
}
