/* What a file says beside its tensors: its base, the files that it was made of, all that is wrong with it. */
#include "check.h"
#include <sys/stat.h>

/* The path of a file beside another one. */
static char *beside(const char *path, const char *name) {
    const char *end = strrchr(path, '/');
    size_t folder = end == NULL ? 0 : (size_t)(end - path) + 1;
    char *out = exactly(folder + strlen(name) + 1);
    memcpy(out, path, folder);
    strcpy(out + folder, name);
    return out;
}

static uint8_t *read_all(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    *size = (size_t)ftell(file);
    uint8_t *bytes = exactly(*size);
    rewind(file);
    CHECK(fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

typedef struct taken {
    uint8_t *bytes;
    size_t size, room, most;
} taken;

static int32_t take(void *data, const void *bytes, size_t size) {
    taken *to = data;
    if (to->size + size > to->most) return 1;
    CHECK(to->size + size <= to->room);
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return 0;
}

/* A file is given back as it was. */
static void files(const char *packed, const char *base, const char *source) {
    lt_error error;
    lt_wcodec_reader *reader = NULL;
    OK(lt_wcodec_open(packed, base, NULL, &reader, &error));
    CHECK(lt_wcodec_file_count(reader) == 1);
    lt_wcodec_file file;
    OK(lt_wcodec_file_info(reader, 0, &file, &error));
    CHECK(strcmp(file.name, "model.safetensors") == 0 && file.name_size == strlen(file.name));
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_file_info(reader, 1, &file, &error));
    taken to = {exactly(file.bytes), 0, file.bytes, file.bytes};
    OK(lt_wcodec_write_file(reader, 0, take, &to, &error));
    CHECK(to.size == file.bytes);
    if (source != NULL) {
        size_t size;
        uint8_t *bytes = read_all(source, &size);
        CHECK(size == to.size && memcmp(bytes, to.bytes, size) == 0);
        free(bytes);
    }
    to.size = 0;
    to.most = 100;
    FAILS(LT_STATUS_STOPPED, lt_wcodec_write_file(reader, 0, take, &to, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_write_file(reader, 1, take, &to, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_write_file(reader, 0, NULL, &to, &error));
    free(to.bytes);
    lt_wcodec_close(reader);
}

static void bases(const char *path, const char *tuned, const char *base, const char *packed) {
    lt_error error;
    lt_wcodec_reader *reader = NULL;
    lt_wcodec_base info;
    uint8_t hash[32];
    OK(lt_wcodec_open(packed, NULL, NULL, &reader, &error));
    OK(lt_wcodec_base_info(reader, &info, &error));
    CHECK(info.name == NULL && info.name_size == 0);
    OK(lt_wcodec_model_hash(reader, hash, &error));
    lt_wcodec_close(reader);

    OK(lt_wcodec_open(tuned, NULL, NULL, &reader, &error));
    OK(lt_wcodec_base_info(reader, &info, &error));
    CHECK(strcmp(info.name, "base.safetensors") == 0 && info.name_size == strlen(info.name));
    CHECK(memcmp(info.model_hash, hash, 32) == 0);
    /* A name with a NUL in it. */
    size_t index;
    OK(lt_wcodec_find_sized(reader, "a\0b", 3, &index, &error));
    lt_wcodec_tensor tensor;
    OK(lt_wcodec_tensor_info(reader, index, &tensor, &error));
    CHECK(tensor.name_size == 3 && memcmp(tensor.name, "a\0b", 4) == 0 && tensor.copy_of == LT_NONE);
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_find(reader, "a\0b", &index, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_find_sized(reader, "a\0b", 4, &index, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_find_sized(reader, "\xff", 1, &index, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_find_sized(reader, NULL, 1, &index, &error));
    CHECK(index == SIZE_MAX);
    OK(lt_wcodec_find_sized(reader, "wide", 1, &index, &error));
    uint8_t *data = exactly(65536);
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_decode(reader, index, data, 65536, NULL, &error));
    CHECK(strstr(error.message, "base.safetensors") != NULL);
    lt_wcodec_close(reader);

    const char *both[] = {base, packed};
    for (int i = 0; i < 2; i++) {
        OK(lt_wcodec_open(tuned, both[i], NULL, &reader, &error));
        OK(lt_wcodec_decode(reader, index, data, 65536, NULL, &error));
        OK(lt_wcodec_verify(reader, &error));
        lt_wcodec_close(reader);
    }
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_open(tuned, path, NULL, &reader, &error));
    CHECK(strstr(error.message, "not the base") != NULL);
    /* What is wrong with a base is not said of the file. */
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_open(tuned, tuned, NULL, &reader, &error));
    CHECK(strstr(error.message, "the base ") != NULL && strstr(error.message, "made against") != NULL);
    size_t size;
    uint8_t *bytes = read_all(packed, &size);
    char *damaged = beside(packed, "damaged");
    bytes[1000] ^= 1;
    FILE *file = fopen(damaged, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    OK(lt_wcodec_open(tuned, damaged, NULL, &reader, &error));
    FAILS(LT_STATUS_CORRUPT, lt_wcodec_decode(reader, index, data, 65536, NULL, &error));
    CHECK(error.offset == LT_NONE && error.values_before == LT_NONE);
    CHECK(strstr(error.message, "the base ") != NULL && strstr(error.message, "(byte ") != NULL);
    lt_wcodec_close(reader);
    free(bytes);
    free(data);

    /* Folders and pipes are refused by name, before they are opened. */
    char *folder = beside(path, "");
    FAILS(LT_STATUS_IO, lt_wcodec_open(folder, NULL, NULL, &reader, &error));
    CHECK(strstr(error.message, folder) != NULL && strstr(error.message, "folder") != NULL);
    FAILS(LT_STATUS_IO, lt_wcodec_open(tuned, folder, NULL, &reader, &error));
    CHECK(strstr(error.message, folder) != NULL && strstr(error.message, "the base ") != NULL);
    char *pipe = beside(path, "pipe");
    remove(pipe);
    CHECK(mkfifo(pipe, 0600) == 0);
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_open(pipe, NULL, NULL, &reader, &error));
    CHECK(strstr(error.message, pipe) != NULL);
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_salvage(pipe, NULL, NULL, &reader, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_open(tuned, pipe, NULL, &reader, &error));
    CHECK(strstr(error.message, pipe) != NULL);
    remove(pipe);
    remove(damaged);
    free(damaged);
    free(pipe);
    free(folder);
}

/* Every tensor that is damaged, not the first alone; and how far one is right. */
static void faults(const char *path) {
    lt_error error;
    lt_wcodec_reader *reader = NULL;
    lt_wcodec_faults *found = NULL;
    size_t size, weights, tied;
    uint8_t *bytes = read_all(path, &size);
    OK(lt_wcodec_open_memory(bytes, size, NULL, NULL, &reader, &error));
    OK(lt_wcodec_find_faults(reader, &found, &error));
    CHECK(lt_wcodec_fault_count(found) == 0);
    lt_wcodec_fault fault;
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_wcodec_fault_info(found, 0, &fault, &error));
    lt_wcodec_faults_free(found);
    OK(lt_wcodec_find(reader, "layer.weight", &weights, &error));
    OK(lt_wcodec_find(reader, "tied", &tied, &error));
    lt_wcodec_tensor tensor;
    OK(lt_wcodec_tensor_info(reader, tied, &tensor, &error));
    CHECK(tensor.copy_of == weights && tensor.stored_bytes == 0);
    OK(lt_wcodec_tensor_info(reader, weights, &tensor, &error));
    CHECK(tensor.copy_of == LT_NONE && tensor.stored_bytes > 0);
    uint8_t *whole = exactly(tensor.bytes), *data = exactly(tensor.bytes);
    OK(lt_wcodec_decode(reader, weights, whole, tensor.bytes, NULL, &error));
    lt_wcodec_close(reader);

    bytes[tensor.stored_bytes / 2] ^= 1;
    bytes[tensor.stored_bytes / 3] ^= 1;
    lt_decode_options options;
    lt_decode_options_init(&options, sizeof options);
    for (options.threads = 1; options.threads <= 4; options.threads += 3) {
        OK(lt_wcodec_open_memory(bytes, size, NULL, &options, &reader, &error));
        /* Room is asked for before anything is decoded: no damage is met. */
        FAILS(LT_STATUS_BUFFER_TOO_SMALL, lt_wcodec_decode_weights(reader, weights, 0, 6400, 0, 48, data, 6400 * 48 - 1,
                                                                   NULL, NULL, &error));
        FAILS(LT_STATUS_CORRUPT, lt_wcodec_decode_weights(reader, weights, 0, 6400, 0, 48, data, 6400 * 48,
                                                          NULL, NULL, &error));
        for (size_t i = 0; i < tensor.bytes; i++) data[i] = whole[i] ^ 0x5a;
        FAILS(LT_STATUS_CORRUPT, lt_wcodec_decode(reader, weights, data, tensor.bytes, NULL, &error));
        CHECK((error.values_before == LT_NONE) == (error.values_right == LT_NONE));
        uint64_t changed = error.values_before == LT_NONE ? 0 : error.values_before;
        uint64_t right = error.values_right == LT_NONE ? 0 : error.values_right;
        CHECK(right <= changed && changed <= tensor.bytes && memcmp(data, whole, right) == 0);
        for (uint64_t i = changed; i < tensor.bytes; i++) CHECK(data[i] == (whole[i] ^ 0x5a));

        OK(lt_wcodec_find_faults(reader, &found, &error));
        size_t of_weights = 0, of_tied = 0;
        for (size_t i = 0; i < lt_wcodec_fault_count(found); i++) {
            OK(lt_wcodec_fault_info(found, i, &fault, &error));
            CHECK(fault.status == LT_STATUS_CORRUPT && fault.offset < size && strlen(fault.what) > 10);
            of_weights += fault.tensor == weights;
            of_tied += fault.tensor == tied;
        }
        /* That of the copy, too. */
        CHECK(of_weights >= 1 && of_tied >= 1);
        FAILS(LT_STATUS_INVALID_ARGUMENT,
              lt_wcodec_fault_info(found, lt_wcodec_fault_count(found), &fault, &error));
        lt_wcodec_close(reader);
        /* They live on. */
        OK(lt_wcodec_fault_info(found, 0, &fault, &error));
        CHECK(strstr(fault.what, "corrupt") != NULL);
        lt_wcodec_faults_free(found);
    }
    free(whole);
    free(data);
    free(bytes);
}

void test_base(const char *path) {
    char *tuned = beside(path, "tuned.wcodec");
    char *base = beside(path, "base.safetensors"), *packed = beside(path, "base.wcodec");
    bases(path, tuned, base, packed);
    files(packed, NULL, base);
    files(tuned, base, NULL);
    faults(path);
    free(tuned);
    free(base);
    free(packed);
}
