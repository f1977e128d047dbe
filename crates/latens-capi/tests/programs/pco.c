/* Standalone Pco files. */
#include "check.h"

enum { N = 3000 };

/* Compresses, decompresses in every way, compares bits. */
static void round_trip(uint32_t type, const lt_pco_options *options, size_t n) {
    lt_error error;
    size_t width = lt_type_size(type), bytes = n * width;
    void *numbers = exactly(bytes), *back = exactly(bytes);
    numbers_of(type, numbers, n);

    lt_buffer file, again;
    OK(lt_pco_compress(type, numbers, n, options, &file, &error));
    CHECK(file.size > 0 && (n < 1000 || file.size < bytes));
    size_t bound, written;
    OK(lt_pco_compress_bound(type, n, options, &bound, &error));
    CHECK(file.size <= bound);

    /* Into memory of the caller: as large as it may get, as it is, and one byte less. */
    size_t rooms[] = {bound, file.size, file.size - 1, 0};
    for (int i = 0; i < 4; i++) {
        uint8_t *room = exactly(rooms[i]);
        if (rooms[i] >= file.size) {
            OK(lt_pco_compress_into(type, numbers, n, options, room, rooms[i], &written, &error));
            CHECK(written == file.size && memcmp(room, file.data, written) == 0);
        } else {
            FAILS(LT_STATUS_BUFFER_TOO_SMALL,
                  lt_pco_compress_into(type, numbers, n, options, room, rooms[i], &written, &error));
            CHECK(written == 0);
        }
        free(room);
    }

    uint32_t found = 99;
    uint64_t hint = 99;
    OK(lt_pco_peek(file.data, file.size, &found, &hint, &error));
    CHECK(found == type && hint == n);
    OK(lt_pco_peek(file.data, file.size, NULL, NULL, &error));

    size_t count = 99;
    uint32_t ask[] = {type, LT_TYPE_ANY};
    for (int i = 0; i < 2; i++) {
        OK(lt_pco_decompress(file.data, file.size, ask[i], NULL, &again, &found, &count, &error));
        CHECK(found == type && count == n && again.size == bytes);
        CHECK(bytes == 0 || memcmp(again.data, numbers, bytes) == 0);
        lt_buffer_free(&again);
        CHECK(again.data == NULL);
        lt_buffer_free(&again);
    }

    bool finished = false;
    OK(lt_pco_decompress_into(file.data, file.size, type, NULL, back, n, &count, &finished, &error));
    CHECK(count == n && finished);
    CHECK(bytes == 0 || memcmp(back, numbers, bytes) == 0);

    /* Less room, more room: nothing behind what is counted is touched. */
    if (n > 10) {
        uint8_t *more = exactly(bytes + 64);
        memset(more, 0x5a, bytes + 64);
        OK(lt_pco_decompress_into(file.data, file.size, type, NULL, more, n - 7, &count, &finished,
                                  &error));
        CHECK(count == n - 7 && !finished && memcmp(more, numbers, count * width) == 0);
        for (size_t i = count * width; i < bytes + 64; i++) CHECK(more[i] == 0x5a);
        OK(lt_pco_decompress_into(file.data, file.size, type, NULL, more, n + 64 / width, &count, NULL,
                                  &error));
        CHECK(count == n && memcmp(more, numbers, bytes) == 0);
        for (size_t i = bytes; i < bytes + 64; i++) CHECK(more[i] == 0x5a);
        free(more);
    }
    lt_buffer_free(&file);
    free(numbers);
    free(back);
}

/* After an error memory is as it is with one thread, whatever others have decoded by then. */
static void damage_on_threads(uint32_t checksum) {
    lt_error error, of_one;
    lt_pco_options options;
    lt_pco_options_init(&options, sizeof options);
    options.chunk_n = 400;
    options.checksum = checksum;
    uint16_t numbers[N], one[N], many[N];
    numbers_of(LT_TYPE_U16, numbers, N);
    lt_buffer file;
    OK(lt_pco_compress(LT_TYPE_U16, numbers, N, &options, &file, &error));
    lt_decode_options decode;
    lt_decode_options_init(&decode, sizeof decode);
    size_t count, count_of_one, failed = 0;
    for (size_t at = 0; at < file.size; at++) {
        ((uint8_t *)file.data)[at] ^= 0x04;
        memset(one, 0x5a, sizeof one);
        decode.threads = 1;
        lt_status status = lt_pco_decompress_into(file.data, file.size, LT_TYPE_U16, &decode, one, N,
                                                  &count_of_one, NULL, &of_one);
        failed += status != LT_STATUS_OK;
        for (decode.threads = 2; decode.threads < 5; decode.threads++) {
            memset(many, 0x5a, sizeof many);
            CHECK(lt_pco_decompress_into(file.data, file.size, LT_TYPE_U16, &decode, many, N, &count,
                                         NULL, &error) == status);
            CHECK(count == count_of_one && error.values_before == of_one.values_before);
            CHECK(strcmp(error.message, of_one.message) == 0);
            CHECK(memcmp(one, many, sizeof one) == 0);
        }
        ((uint8_t *)file.data)[at] ^= 0x04;
    }
    CHECK(failed > 0 && (!checksum || failed > file.size / 2));
    lt_buffer_free(&file);
}

/* Damage, wherever it is: an error of the right kind with its byte, and what was written is right. */
static void damage(void) {
    lt_error error;
    lt_pco_options options;
    lt_pco_options_init(&options, sizeof options);
    options.chunk_n = 1000;
    int32_t numbers[N], back[N];
    numbers_of(LT_TYPE_I32, numbers, N);
    lt_buffer file, none;
    OK(lt_pco_compress(LT_TYPE_I32, numbers, N, &options, &file, &error));
    size_t count;
    for (size_t at = 0; at < file.size; at += 7) {
        uint8_t *bytes = copy_of(file.data, file.size);
        bytes[at] ^= 0x20;
        for (int i = 0; i < N; i++) back[i] = -7;
        bool finished;
        lt_status status = lt_pco_decompress_into(bytes, file.size, LT_TYPE_I32, NULL, back, N, &count,
                                                  &finished, &error);
        /* A file may seem to go on behind the room that there is. */
        CHECK(status == LT_STATUS_CORRUPT || status == LT_STATUS_TRUNCATED ||
              status == LT_STATUS_INVALID_ARGUMENT || (status == LT_STATUS_OK && !finished));
        CHECK(status == LT_STATUS_INVALID_ARGUMENT || status == LT_STATUS_OK ||
              error.offset <= file.size);
        size_t before = error.values_before == LT_NONE ? count : (size_t)error.values_before;
        CHECK(before <= N);
        for (size_t i = before; i < N; i++) CHECK(back[i] == -7);
        status = lt_pco_decompress(bytes, file.size, LT_TYPE_I32, NULL, &none, NULL, NULL, &error);
        CHECK(status == LT_STATUS_CORRUPT || status == LT_STATUS_TRUNCATED ||
              status == LT_STATUS_INVALID_ARGUMENT);
        CHECK(none.data == NULL && none.size == 0);
        lt_buffer_free(&none);
        free(bytes);

        bytes = copy_of(file.data, at);
        status = lt_pco_decompress(bytes, at, LT_TYPE_I32, NULL, &none, NULL, NULL, &error);
        /* Half of a checksum trailer is something else behind the end. */
        bool in_trailer = at > file.size - 3 * 16 - 20;
        CHECK(status == (in_trailer ? LT_STATUS_CORRUPT : LT_STATUS_TRUNCATED));
        CHECK(error.offset <= at && strlen(error.message) > 20);
        free(bytes);
    }
    FAILS(LT_STATUS_CORRUPT, lt_pco_peek("not a file of Pco", 17, NULL, NULL, &error));
    CHECK(error.offset == 0);
    lt_buffer_free(&file);
}

static void limits(void) {
    lt_error error;
    double numbers[N], back[N];
    numbers_of(LT_TYPE_F64, numbers, N);
    lt_buffer file, out;
    OK(lt_pco_compress(LT_TYPE_F64, numbers, N, NULL, &file, &error));
    lt_decode_options options;
    lt_decode_options_init(&options, sizeof options);
    CHECK(options.size == sizeof options && options.max_output == LT_UNLIMITED);
    size_t count;
    for (uint32_t threads = 0; threads < 4; threads++) {
        options.threads = threads;
        options.max_output = sizeof numbers;
        OK(lt_pco_decompress(file.data, file.size, LT_TYPE_F64, &options, &out, NULL, &count, &error));
        lt_buffer_free(&out);
        options.max_output--;
        FAILS(LT_STATUS_LIMIT, lt_pco_decompress(file.data, file.size, LT_TYPE_ANY, &options, &out, NULL,
                                                 NULL, &error));
        FAILS(LT_STATUS_LIMIT, lt_pco_decompress_into(file.data, file.size, LT_TYPE_F64, &options, back,
                                                      N, &count, NULL, &error));
        CHECK(strstr(error.message, "max_output") != NULL);
        options.max_output = LT_UNLIMITED;
        options.max_alloc = 1;
        FAILS(LT_STATUS_LIMIT, lt_pco_decompress_into(file.data, file.size, LT_TYPE_F64, &options, back,
                                                      N, &count, NULL, &error));
        CHECK(strstr(error.message, "max_alloc") != NULL);
        options.max_alloc = LT_UNLIMITED;
    }
    lt_buffer_free(&file);
    // Chunks of one number with a table of 2^14 slots each.
    static const unsigned char HEAD[9] = "pco!\3\0\0\4\1";
    static const unsigned char CHUNK[22] = {10, 0, 0, 0, 0, 0x2e, 0, 0xf0, 0xff, 1, 0, 0, 8};
    unsigned char tables[9 + 300 * 22 + 1] = {0};
    memcpy(tables, HEAD, 9);
    for (size_t i = 0; i < 300; i++) memcpy(tables + 9 + 22 * i, CHUNK, 22);
    lt_decode_options_init(&options, sizeof options);
    FAILS(LT_STATUS_LIMIT, lt_pco_decompress(tables, sizeof tables, LT_TYPE_U8, &options, &out, NULL,
                                             &count, &error));
    CHECK(strstr(error.message, "max_spare_slots") != NULL);
    options.max_spare_slots = LT_UNLIMITED;
    OK(lt_pco_decompress(tables, sizeof tables, LT_TYPE_U8, &options, &out, NULL, &count, &error));
    CHECK(count == 300);
    lt_buffer_free(&out);
}

static void inspect(void) {
    lt_error error;
    lt_pco_options options;
    lt_pco_options_init(&options, sizeof options);
    options.mode = "int-mult@60000";
    options.delta = "consecutive@2";
    options.chunk_n = 1000;
    int64_t numbers[N];
    numbers_of(LT_TYPE_I64, numbers, N);
    lt_buffer file;
    OK(lt_pco_compress(LT_TYPE_I64, numbers, N, &options, &file, &error));
    lt_pco_inspection *held = NULL;
    OK(lt_pco_inspect(file.data, file.size, NULL, &held, &error));
    lt_pco_info info;
    OK(lt_pco_inspection_file(held, &info, &error));
    CHECK(info.n == N && info.chunks == 3 && info.number_type == LT_TYPE_I64 && info.checksum);
    CHECK(info.bytes == file.size && !info.trailing && info.standalone_version == 3);
    CHECK(info.format_major == 4 && info.format_minor == 1);
    uint64_t next = 0;
    for (size_t i = 0; i < info.chunks; i++) {
        lt_pco_chunk_info chunk;
        OK(lt_pco_inspection_chunk(held, i, &chunk, &error));
        CHECK(chunk.n == 1000 && chunk.offset >= next && chunk.bytes > 0);
        CHECK(strcmp(chunk.mode, "int-mult@60000") == 0);
        CHECK(strcmp(chunk.delta, "consecutive@2") == 0);
        next = chunk.offset + chunk.bytes;
    }
    lt_pco_chunk_info chunk;
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_pco_inspection_chunk(held, 3, &chunk, &error));
    lt_pco_inspection_free(held);
    FAILS(LT_STATUS_TRUNCATED, lt_pco_inspect(file.data, 40, NULL, &held, &error));
    CHECK(held == NULL);
    lt_buffer_free(&file);
}

void test_pco(void) {
    lt_pco_options options;
    lt_pco_options_init(&options, sizeof options);
    CHECK(options.size == sizeof options && options.level == 8 && options.checksum == 1);
    for (uint32_t type = LT_TYPE_U32; type <= LT_TYPE_I8; type++) {
        round_trip(type, NULL, N);
        round_trip(type, NULL, 0);
        round_trip(type, &options, 1);
        options.level = 3;
        options.threads = 2;
        options.chunk_n = 500;
        options.checksum = 0;
        round_trip(type, &options, N);
        lt_pco_options_init(&options, sizeof options);
    }
    struct {
        uint32_t type;
        const char *mode, *delta, *favor;
    } forced[] = {
        {LT_TYPE_U64, "int-mult@7", "conv1@6", NULL},
        {LT_TYPE_U32, "int-mult@7", "conv1@6", "size"},
        {LT_TYPE_I16, "classic", "consecutive@3", "speed"},
        {LT_TYPE_F64, "float-mult@0.01", "lookback", "balanced"},
        {LT_TYPE_F32, "float-quant@5", "consecutive@1+secondary", NULL},
        {LT_TYPE_U8, "dict", "none", NULL},
        {LT_TYPE_F16, "auto", "auto", "auto"},
    };
    for (size_t i = 0; i < sizeof forced / sizeof *forced; i++) {
        options.mode = forced[i].mode;
        options.delta = forced[i].delta;
        options.favor = forced[i].favor;
        lt_error error;
        lt_buffer file;
        uint32_t numbers[4] = {1, 2, 3, 4};
        if (i == 0 || i == 6) {
            /* conv1 is for 32 bits at most; "auto" is no preference. */
            FAILS(LT_STATUS_INVALID_ARGUMENT,
                  lt_pco_compress(forced[i].type, numbers, 1, &options, &file, &error));
            CHECK(strstr(error.message, i == 0 ? "conv1" : "`auto` is no preference") != NULL);
        } else {
            round_trip(forced[i].type, &options, N);
        }
    }
    damage();
    damage_on_threads(1);
    damage_on_threads(0);
    limits();
    inspect();
}
