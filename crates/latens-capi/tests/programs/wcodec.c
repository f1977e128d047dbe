/* Checkpoints. The file holds what `tests/programs.rs` has put there. */
#include "check.h"

static uint8_t byte_of(size_t tensor, size_t i) { return (uint8_t)((i * 7 + i / 48 * 13 + tensor) % 23); }

static void read_all(lt_wcodec_reader *reader) {
    static const struct {
        const char *name, *dtype;
        size_t dimensions, bytes;
        uint64_t shape[3];
    } expected[] = {
        {"layer.weight", "I8", 2, 6400 * 48, {6400, 48, 0}},
        {"layer.weight_scale", "F32", 2, 6400 * 4, {6400, 1, 0}},
        {"cube", "U8", 3, 24, {2, 3, 4}},
        {"half", "BF16", 2, 512, {16, 16, 0}},
        {"nothing", "F32", 2, 0, {0, 8, 0}},
        {"one \xc3\xa9", "I64", 0, 8, {0}},
        {"tied", "I8", 2, 6400 * 48, {6400, 48, 0}},
    };
    lt_error error;
    CHECK(lt_wcodec_tensor_count(reader) == sizeof expected / sizeof *expected);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        size_t index, written;
        lt_wcodec_tensor info;
        OK(lt_wcodec_find(reader, expected[i].name, &index, &error));
        OK(lt_wcodec_tensor_info(reader, index, &info, &error));
        CHECK(strcmp(info.name, expected[i].name) == 0 && info.name_size == strlen(info.name));
        CHECK(strcmp(info.dtype, expected[i].dtype) == 0);
        CHECK(info.dimensions == expected[i].dimensions && info.bytes == expected[i].bytes);
        for (size_t d = 0; d < info.dimensions; d++) CHECK(info.shape[d] == expected[i].shape[d]);
        size_t bytes = expected[i].bytes, kind = i == 6 ? 0 : i;

        uint8_t *data = exactly(bytes);
        OK(lt_wcodec_decode(reader, index, data, bytes, &written, &error));
        CHECK(written == bytes);
        for (size_t b = 0; b < bytes; b++) CHECK(data[b] == byte_of(kind, b));
        if (bytes > 0) {
            FAILS(LT_STATUS_BUFFER_TOO_SMALL,
                  lt_wcodec_decode(reader, index, data, bytes - 1, &written, &error));
            CHECK(written == 0);
            FAILS(LT_STATUS_INVALID_ARGUMENT,
                  lt_wcodec_decode(reader, index, NULL, bytes, &written, &error));
        }
        free(data);

        uint64_t rows = info.dimensions > 0 ? info.shape[0] : 0;
        for (uint64_t first = 0; first < rows; first += 1 + rows / 7) {
            uint64_t some = (rows - first) / 2 + 1;
            size_t row = bytes / rows;
            uint8_t *piece = exactly(some * row);
            OK(lt_wcodec_decode_rows(reader, index, first, some, piece, some * row, &written, &error));
            CHECK(written == some * row);
            for (size_t b = 0; b < written; b++) CHECK(piece[b] == byte_of(kind, first * row + b));
            FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_decode_rows(reader, index, first, rows + 1, piece,
                                                                    some * row, &written, &error));
            free(piece);
        }
    }

    /* Columns of rows of logical weights. */
    size_t index, written;
    OK(lt_wcodec_find(reader, "layer.weight", &index, &error));
    lt_wcodec_layout layout;
    OK(lt_wcodec_tensor_layout(reader, index, &layout, &error));
    CHECK(layout.rows == 6400 && layout.columns == 48 && strcmp(layout.packing, "int8") == 0);
    int8_t *weights = exactly(3 * 5);
    uint32_t type = 99;
    OK(lt_wcodec_decode_weights(reader, index, 100, 3, 40, 5, weights, 15, &type, &written, &error));
    CHECK(type == LT_TYPE_I8 && written == 15);
    for (size_t r = 0; r < 3; r++) {
        for (size_t c = 0; c < 5; c++) {
            CHECK(weights[r * 5 + c] == (int8_t)byte_of(0, (100 + r) * 48 + 40 + c));
        }
    }
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_decode_weights(reader, index, 6399, 2, 0, 1, weights, 15,
                                                               NULL, NULL, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT,
          lt_wcodec_decode_weights(reader, index, UINT64_MAX, 2, 0, 1, weights, 15, NULL, NULL, &error));
    FAILS(LT_STATUS_BUFFER_TOO_SMALL,
          lt_wcodec_decode_weights(reader, index, 0, 3, 0, 5, weights, 14, NULL, NULL, &error));
    free(weights);

    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_find(reader, "no such", &index, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_find(reader, NULL, &index, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_find(reader, "\xff", &index, &error));
    lt_wcodec_tensor info;
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_tensor_info(reader, 7, &info, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_decode(reader, 7, NULL, 0, NULL, &error));
}

void test_wcodec(const char *path) {
    lt_error error;
    lt_wcodec_reader *reader = NULL;
    OK(lt_wcodec_open(path, NULL, NULL, &reader, &error));
    read_all(reader);
    OK(lt_wcodec_verify(reader, &error));
    uint8_t hash[32] = {0}, other[32] = {0};
    OK(lt_wcodec_model_hash(reader, hash, &error));
    lt_wcodec_close(reader);

    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    size_t size = (size_t)ftell(file);
    uint8_t *bytes = exactly(size);
    rewind(file);
    CHECK(fread(bytes, 1, size, file) == size);
    fclose(file);
    lt_decode_options options;
    lt_decode_options_init(&options, sizeof options);
    options.threads = 3;
    OK(lt_wcodec_open_memory(bytes, size, NULL, &options, &reader, &error));
    read_all(reader);
    OK(lt_wcodec_verify(reader, &error));
    OK(lt_wcodec_model_hash(reader, other, &error));
    CHECK(memcmp(hash, other, 32) == 0);
    /* Not to where the file itself lies. */
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_decode(reader, 2, bytes + 100, 24, NULL, &error));
    lt_wcodec_close(reader);

    options.max_output = 1000;
    OK(lt_wcodec_open_memory(bytes, size, NULL, &options, &reader, &error));
    size_t index;
    OK(lt_wcodec_find(reader, "layer.weight", &index, &error));
    uint8_t *data = exactly(6400 * 48);
    FAILS(LT_STATUS_LIMIT, lt_wcodec_decode(reader, index, data, 6400 * 48, NULL, &error));
    lt_wcodec_close(reader);

    /* Damage is found where it is read, or by verification. */
    size_t found = 0;
    for (size_t at = 0; at < size; at += 1 + size / 60) {
        bytes[at] ^= 0x10;
        lt_status status = lt_wcodec_open_memory(bytes, size, NULL, NULL, &reader, &error);
        if (status == LT_STATUS_OK) {
            status = lt_wcodec_verify(reader, &error);
            lt_wcodec_close(reader);
        } else {
            CHECK(reader == NULL);
        }
        CHECK(status == LT_STATUS_CORRUPT || status == LT_STATUS_TRUNCATED);
        found += error.offset <= size;
        bytes[at] ^= 0x10;
        uint8_t *cut = copy_of(bytes, at);
        status = lt_wcodec_open_memory(cut, at, NULL, NULL, &reader, &error);
        CHECK(status == LT_STATUS_CORRUPT || status == LT_STATUS_TRUNCATED);
        free(cut);
    }
    CHECK(found > 50);

    /* A flipped bit of the header, or the footer cut off: all tensors are there all the same. */
    lt_wcodec_damage damage;
    for (size_t cut_off = 0; cut_off <= 16; cut_off += 8) {
        uint8_t *damaged = copy_of(bytes, size - cut_off);
        damaged[20] ^= cut_off == 0;
        OK(lt_wcodec_salvage_memory(damaged, size - cut_off, NULL, NULL, &reader, &error));
        CHECK(lt_wcodec_damage_count(reader) >= 1);
        for (size_t i = 0; i < lt_wcodec_damage_count(reader); i++) {
            OK(lt_wcodec_damage_info(reader, i, &damage, &error));
            CHECK(damage.offset <= size && strlen(damage.what) > 10);
        }
        FAILS(LT_STATUS_INVALID_ARGUMENT,
              lt_wcodec_damage_info(reader, lt_wcodec_damage_count(reader), &damage, &error));
        read_all(reader);
        /* What is left of the footer states the index's checksum. Without it nothing proves what the file
           holds beside tensors. */
        if (cut_off < 16) {
            OK(lt_wcodec_verify(reader, &error));
        } else {
            FAILS(LT_STATUS_CORRUPT, lt_wcodec_verify(reader, &error));
        }
        lt_wcodec_close(reader);
        free(damaged);
    }
    OK(lt_wcodec_salvage(path, NULL, NULL, &reader, &error));
    CHECK(lt_wcodec_damage_count(reader) == 0);
    read_all(reader);
    OK(lt_wcodec_verify(reader, &error));
    lt_wcodec_close(reader);
    CHECK(lt_wcodec_salvage_memory("not such a file", 15, NULL, NULL, &reader, &error) != LT_STATUS_OK);
    CHECK(reader == NULL);
    FAILS(LT_STATUS_IO, lt_wcodec_salvage("no/such/file.wcodec", NULL, NULL, &reader, &error));

    FAILS(LT_STATUS_IO, lt_wcodec_open("no/such/file.wcodec", NULL, NULL, &reader, &error));
    CHECK(strstr(error.message, "no/such/file.wcodec") != NULL && reader == NULL);
    FAILS(LT_STATUS_IO, lt_wcodec_open(path, "no/such/base.wcodec", NULL, &reader, &error));
    free(data);
    free(bytes);
}
