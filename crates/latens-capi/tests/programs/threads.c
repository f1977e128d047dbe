/* Several threads, with handles of their own and shared ones. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 6, N = 20000 };

static lt_wcodec_reader *reader;
static lt_pco_chunk_decoder *decoder;
static lt_buffer page;
static int32_t numbers[N];

static void *work(void *argument) {
    size_t me = *(const size_t *)argument;
    lt_error error;
    for (int turn = 0; turn < 4; turn++) {
        int32_t *back = exactly(sizeof numbers);
        OK(lt_pco_chunk_decoder_page(decoder, page.data, page.size, back, N, NULL, &error));
        CHECK(memcmp(back, numbers, sizeof numbers) == 0);
        lt_buffer file, again;
        OK(lt_pco_compress(LT_TYPE_I32, numbers + me, N - me, NULL, &file, &error));
        OK(lt_pco_decompress(file.data, file.size, LT_TYPE_ANY, NULL, &again, NULL, NULL, &error));
        CHECK(again.size == (N - me) * 4 && memcmp(again.data, numbers + me, again.size) == 0);
        lt_buffer_free(&again);
        /* Errors of one thread are its own. */
        lt_status expected = me % 2 == 0 ? LT_STATUS_TRUNCATED : LT_STATUS_INVALID_ARGUMENT;
        FAILS(expected, lt_pco_decompress(file.data, file.size / 2, me % 2 ? 77 : LT_TYPE_I32, NULL,
                                          &again, NULL, NULL, &error));
        CHECK((strstr(error.message, "77") != NULL) == (me % 2 != 0));
        lt_buffer_free(&file);
        free(back);

        size_t index;
        lt_wcodec_tensor info;
        OK(lt_wcodec_find(reader, me % 2 ? "layer.weight" : "half", &index, &error));
        OK(lt_wcodec_tensor_info(reader, index, &info, &error));
        void *data = exactly(info.bytes);
        OK(lt_wcodec_decode(reader, index, data, info.bytes, NULL, &error));
        free(data);
    }
    return NULL;
}

void test_threads(const char *path) {
    lt_error error;
    numbers_of(LT_TYPE_I32, numbers, N);
    OK(lt_wcodec_open(path, NULL, NULL, &reader, &error));
    lt_pco_file_encoder *file = NULL;
    lt_pco_chunk_encoder *chunk = NULL;
    lt_pco_file_decoder *files = NULL;
    lt_buffer header, meta;
    const size_t n = N;
    OK(lt_pco_file_encoder_new(NULL, &file, &error));
    OK(lt_pco_file_encoder_header(file, &header, &error));
    OK(lt_pco_chunk_encoder_new(file, LT_TYPE_I32, numbers, N, &n, 1, &chunk, &error));
    OK(lt_pco_chunk_encoder_meta(chunk, &meta, &error));
    OK(lt_pco_chunk_encoder_page(chunk, 0, &page, &error));
    OK(lt_pco_file_decoder_new(header.data, header.size, NULL, &files, NULL, &error));
    OK(lt_pco_chunk_decoder_new(files, LT_TYPE_I32, meta.data, meta.size, &decoder, NULL, &error));
    pthread_t threads[THREADS];
    size_t numbers_of_threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        numbers_of_threads[i] = i;
        CHECK(pthread_create(&threads[i], NULL, work, &numbers_of_threads[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    lt_pco_chunk_decoder_free(decoder);
    lt_pco_file_decoder_free(files);
    lt_pco_chunk_encoder_free(chunk);
    lt_pco_file_encoder_free(file);
    lt_buffer_free(&header);
    lt_buffer_free(&meta);
    lt_buffer_free(&page);
    lt_wcodec_close(reader);
}
