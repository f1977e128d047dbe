/* Long calls tell what they have done, and can be ended. */
#include "check.h"

#include <pthread.h>

enum { N = 1 << 20 };

/* What a watch has seen, and after how much it ends the call. */
struct seen {
    pthread_mutex_t lock;
    uint64_t done;
    uint64_t calls;
    uint64_t most;
};

static int32_t told(void *data, uint64_t done) {
    struct seen *seen = data;
    pthread_mutex_lock(&seen->lock);
    seen->done += done;
    seen->calls++;
    int32_t end = seen->done >= seen->most;
    pthread_mutex_unlock(&seen->lock);
    return end;
}

/* Another call: what it tells is counted from 0, and it ends after `most`. */
static void again(struct seen *seen, uint64_t most) {
    seen->done = seen->calls = 0;
    seen->most = most;
}

static void watched_dbp(struct seen *seen, const int64_t *numbers, int64_t *back) {
    lt_error error;
    lt_buffer stream, values, plain;
    lt_dbp_options options;
    lt_dbp_options_init(&options, sizeof options);
    CHECK(options.watch == NULL && options.watch_data == NULL && options.block_size == 0);
    options.watch = told;
    options.watch_data = seen;
    again(seen, UINT64_MAX);
    OK(lt_dbp_encode_with(LT_TYPE_I64, numbers, N, &options, &stream, &error));
    CHECK(seen->done == N && seen->calls > 1);
    OK(lt_dbp_encode(LT_TYPE_I64, numbers, N, 0, 0, &plain, &error));
    CHECK(plain.size == stream.size && memcmp(plain.data, stream.data, plain.size) == 0);
    again(seen, 1);
    FAILS(LT_STATUS_STOPPED, lt_dbp_encode_with(LT_TYPE_I64, numbers, N, &options, &values, &error));
    CHECK(values.data == NULL && seen->done < N);
    size_t written = 1;
    again(seen, 1);
    FAILS(LT_STATUS_STOPPED, lt_dbp_encode_into_with(LT_TYPE_I64, numbers, N, &options, plain.data,
                                                     plain.size, &written, &error));
    CHECK(written == 0);
    OK(lt_dbp_encode_into_with(LT_TYPE_I64, numbers, N, NULL, plain.data, plain.size, &written, &error));
    CHECK(written == stream.size && memcmp(plain.data, stream.data, written) == 0);
    options.block_size = 100;
    FAILS(LT_STATUS_INVALID_ARGUMENT,
          lt_dbp_encode_with(LT_TYPE_I64, numbers, N, &options, &values, &error));
    lt_buffer_free(&plain);
    options.block_size = 0;
    options.threads = 2;
    again(seen, UINT64_MAX);
    OK(lt_dbp_encode_with(LT_TYPE_I64, numbers, N, &options, &plain, &error));
    CHECK(seen->done == N && plain.size == stream.size);
    CHECK(memcmp(plain.data, stream.data, plain.size) == 0);
    lt_buffer_free(&plain);

    lt_decode_options decode;
    lt_decode_options_init(&decode, sizeof decode);
    decode.threads = 2;
    decode.watch = told;
    decode.watch_data = seen;
    again(seen, UINT64_MAX);
    OK(lt_dbp_decode(stream.data, stream.size, LT_TYPE_I64, &decode, &values, NULL, NULL, &error));
    CHECK(seen->done == N && memcmp(values.data, numbers, N * sizeof *numbers) == 0);
    lt_buffer_free(&values);
    size_t all = 0;
    OK(lt_dbp_decode_into(stream.data, stream.size, LT_TYPE_I64, &decode, back, N, &all, NULL, &error));
    CHECK(all == N && memcmp(back, numbers, N * sizeof *numbers) == 0);
    again(seen, 0);
    FAILS(LT_STATUS_STOPPED,
          lt_dbp_decode(stream.data, stream.size, LT_TYPE_I64, &decode, &values, NULL, NULL, &error));
    size_t count;
    again(seen, 0);
    FAILS(LT_STATUS_STOPPED, lt_dbp_decode_into(stream.data, stream.size, LT_TYPE_I64, &decode, back, N,
                                                &count, NULL, &error));
    lt_buffer_free(&stream);
}

/* Chunks and pages in a container of the caller's own. */
static void watched_pages(struct seen *seen, const int64_t *numbers, int64_t *back) {
    const size_t lens[1] = {N};
    lt_error error;
    lt_pco_options options;
    lt_pco_options_init(&options, sizeof options);
    options.level = 1;
    options.watch = told;
    options.watch_data = seen;
    lt_pco_file_encoder *file;
    lt_pco_chunk_encoder *chunk;
    OK(lt_pco_file_encoder_new(&options, &file, &error));
    again(seen, 0);
    FAILS(LT_STATUS_STOPPED,
          lt_pco_chunk_encoder_new(file, LT_TYPE_I64, numbers, N, lens, 1, &chunk, &error));
    CHECK(chunk == NULL && seen->done == 0);
    again(seen, UINT64_MAX);
    OK(lt_pco_chunk_encoder_new(file, LT_TYPE_I64, numbers, N, lens, 1, &chunk, &error));
    CHECK(seen->done == N && seen->calls > 1);
    lt_buffer header, meta, page;
    OK(lt_pco_file_encoder_header(file, &header, &error));
    OK(lt_pco_chunk_encoder_meta(chunk, &meta, &error));
    OK(lt_pco_chunk_encoder_page(chunk, 0, &page, &error));

    lt_decode_options decode;
    lt_decode_options_init(&decode, sizeof decode);
    decode.watch = told;
    decode.watch_data = seen;
    lt_pco_file_decoder *reader;
    lt_pco_chunk_decoder *decoder;
    OK(lt_pco_file_decoder_new(header.data, header.size, &decode, &reader, NULL, &error));
    OK(lt_pco_chunk_decoder_new(reader, LT_TYPE_I64, meta.data, meta.size, &decoder, NULL, &error));
    size_t bytes = N * sizeof *back;
    memset(back, 0x5a, bytes);
    again(seen, UINT64_MAX);
    OK(lt_pco_chunk_decoder_page(decoder, page.data, page.size, back, N, NULL, &error));
    CHECK(seen->done == N && seen->calls > 1 && memcmp(back, numbers, bytes) == 0);
    memset(back, 0x5a, bytes);
    size_t consumed = 1;
    again(seen, 1);
    FAILS(LT_STATUS_STOPPED,
          lt_pco_chunk_decoder_page(decoder, page.data, page.size, back, N, &consumed, &error));
    CHECK(consumed == 0 && error.values_before == seen->done && seen->done < N);
    CHECK(memcmp(back, numbers, seen->done * sizeof *back) == 0);
    CHECK(((uint8_t *)back)[seen->done * sizeof *back] == 0x5a);
    lt_pco_chunk_decoder_free(decoder);
    lt_pco_file_decoder_free(reader);
    lt_pco_chunk_encoder_free(chunk);
    lt_pco_file_encoder_free(file);
    lt_buffer_free(&page);
    lt_buffer_free(&meta);
    lt_buffer_free(&header);
}

static void watched_pco(struct seen *seen) {
    lt_error error;
    int64_t *numbers = exactly(N * sizeof *numbers), *back = exactly(N * sizeof *numbers);
    numbers_of(LT_TYPE_I64, numbers, N);
    for (uint32_t threads = 1; threads <= 3; threads += 2) {
        lt_pco_options options;
        lt_pco_options_init(&options, sizeof options);
        CHECK(options.watch == NULL && options.watch_data == NULL);
        options.level = 1;
        options.chunk_n = N / 8;
        options.threads = threads;
        options.watch = told;
        options.watch_data = seen;
        lt_buffer file, numbers_back;
        again(seen, UINT64_MAX);
        OK(lt_pco_compress(LT_TYPE_I64, numbers, N, &options, &file, &error));
        CHECK(seen->done == N);
        lt_buffer none;
        again(seen, N / 8);
        FAILS(LT_STATUS_STOPPED, lt_pco_compress(LT_TYPE_I64, numbers, N, &options, &none, &error));
        CHECK(none.data == NULL && error.offset == LT_NONE && seen->done < N);
        char *room = exactly(file.size);
        size_t written = 1;
        again(seen, N / 8);
        FAILS(LT_STATUS_STOPPED, lt_pco_compress_into(LT_TYPE_I64, numbers, N, &options, room,
                                                      file.size, &written, &error));
        CHECK(written == 0);
        free(room);

        lt_decode_options decode;
        lt_decode_options_init(&decode, sizeof decode);
        CHECK(decode.watch == NULL && decode.watch_data == NULL);
        decode.threads = threads;
        decode.watch = told;
        decode.watch_data = seen;
        again(seen, UINT64_MAX);
        OK(lt_pco_decompress(file.data, file.size, LT_TYPE_ANY, &decode, &numbers_back, NULL, NULL,
                             &error));
        CHECK(seen->done == N && memcmp(numbers_back.data, numbers, numbers_back.size) == 0);
        lt_buffer_free(&numbers_back);
        size_t count = 1;
        bool finished;
        again(seen, N / 2);
        FAILS(LT_STATUS_STOPPED, lt_pco_decompress_into(file.data, file.size, LT_TYPE_I64, &decode, back,
                                                        N, &count, &finished, &error));
        CHECK(count == 0 && !finished && strstr(error.message, "stopped") != NULL);
        /* What is said to be there is. */
        CHECK(error.values_before != LT_NONE && error.values_before <= N);
        CHECK(memcmp(back, numbers, error.values_before * sizeof *numbers) == 0);
        lt_pco_inspection *inspection;
        again(seen, 1);
        FAILS(LT_STATUS_STOPPED, lt_pco_inspect(file.data, file.size, &decode, &inspection, &error));
        CHECK(inspection == NULL);
        lt_buffer_free(&file);
    }

    watched_dbp(seen, numbers, back);
    watched_pages(seen, numbers, back);
    free(numbers);
    free(back);
}

/* A base that is no .wcodec is read for its checksums, which may take long. */
static void watched_base(struct seen *seen, const char *path, const lt_decode_options *options) {
    static const char header[] = "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}";
    const size_t length = sizeof header - 1;
    char base[4096];
    CHECK((size_t)snprintf(base, sizeof base, "%s.base.safetensors", path) < sizeof base);
    FILE *file = fopen(base, "wb");
    CHECK(file != NULL);
    for (int byte = 0; byte < 8; byte++) {
        fputc((int)(length >> 8 * byte & 0xff), file);
    }
    fputs(header, file);
    fputs("abcd", file);
    CHECK(fclose(file) == 0);
    lt_error error;
    lt_wcodec_reader *reader;
    again(seen, 0);
    FAILS(LT_STATUS_STOPPED, lt_wcodec_open(path, base, options, &reader, &error));
    CHECK(reader == NULL && seen->calls == 1);
    again(seen, UINT64_MAX);
    OK(lt_wcodec_open(path, base, options, &reader, &error));
    CHECK(seen->calls > 0);
    lt_wcodec_close(reader);
    remove(base);
}

static void watched_wcodec(struct seen *seen, const char *path) {
    lt_error error;
    lt_decode_options options;
    lt_decode_options_init(&options, sizeof options);
    options.threads = 2;
    options.watch = told;
    options.watch_data = seen;
    lt_wcodec_reader *reader;
    again(seen, UINT64_MAX);
    OK(lt_wcodec_open(path, NULL, &options, &reader, &error));
    size_t index;
    lt_wcodec_tensor tensor;
    OK(lt_wcodec_find(reader, "layer.weight", &index, &error));
    OK(lt_wcodec_tensor_info(reader, index, &tensor, &error));
    void *data = exactly(tensor.bytes);
    again(seen, UINT64_MAX);
    OK(lt_wcodec_decode(reader, index, data, tensor.bytes, NULL, &error));
    CHECK(seen->done == tensor.bytes && seen->calls > 1);
    again(seen, 1);
    FAILS(LT_STATUS_STOPPED, lt_wcodec_decode(reader, index, data, tensor.bytes, NULL, &error));
    again(seen, 1);
    FAILS(LT_STATUS_STOPPED, lt_wcodec_verify(reader, &error));
    again(seen, UINT64_MAX);
    OK(lt_wcodec_verify(reader, &error));
    free(data);
    lt_wcodec_close(reader);
    watched_base(seen, path, &options);
}

void test_watch(const char *path) {
    struct seen seen = {.lock = PTHREAD_MUTEX_INITIALIZER};
    CHECK(strcmp(lt_status_name(LT_STATUS_STOPPED), "stopped") == 0);
    watched_pco(&seen);
    watched_wcodec(&seen, path);
}
