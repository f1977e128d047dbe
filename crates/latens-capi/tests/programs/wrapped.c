/* The wrapped Pco format: header, chunk metadata and pages in a container of the caller's own. */
#include "check.h"

static void round_trip(uint32_t type, const char *mode, const char *delta) {
    enum { N = 1500, PAGES = 3 };
    const size_t lens[PAGES] = {1000, 1, 499};
    lt_error error;
    size_t width = lt_type_size(type);
    uint8_t *numbers = exactly(N * width);
    numbers_of(type, numbers, N);
    lt_pco_options options;
    lt_pco_options_init(&options, sizeof options);
    options.mode = mode;
    options.delta = delta;

    lt_pco_file_encoder *file = NULL;
    lt_pco_chunk_encoder *chunk = NULL;
    lt_buffer header, meta, pages[PAGES];
    OK(lt_pco_file_encoder_new(&options, &file, &error));
    OK(lt_pco_file_encoder_header(file, &header, &error));
    OK(lt_pco_chunk_encoder_new(file, type, numbers, N, lens, PAGES, &chunk, &error));
    lt_pco_file_encoder_free(file);
    CHECK(lt_pco_chunk_encoder_pages(chunk) == PAGES);
    CHECK(mode == NULL || strcmp(lt_pco_chunk_encoder_mode(chunk), mode) == 0);
    CHECK(delta == NULL || strcmp(lt_pco_chunk_encoder_delta(chunk), delta) == 0);
    OK(lt_pco_chunk_encoder_meta(chunk, &meta, &error));
    for (size_t i = 0; i < PAGES; i++) {
        OK(lt_pco_chunk_encoder_page(chunk, i, &pages[i], &error));
    }
    lt_buffer none;
    FAILS(LT_STATUS_INVALID_ARGUMENT, lt_pco_chunk_encoder_page(chunk, PAGES, &none, &error));
    CHECK(none.data == NULL);
    lt_pco_chunk_encoder_free(chunk);

    /* In any order; metadata in front of other bytes. */
    lt_pco_file_decoder *reader = NULL;
    lt_pco_chunk_decoder *decoder = NULL;
    size_t consumed;
    OK(lt_pco_file_decoder_new(header.data, header.size, NULL, &reader, &consumed, &error));
    CHECK(consumed == header.size);
    uint8_t *behind = exactly(meta.size + 5);
    memcpy(behind, meta.data, meta.size);
    memset(behind + meta.size, 0xee, 5);
    OK(lt_pco_chunk_decoder_new(reader, type, behind, meta.size + 5, &decoder, &consumed, &error));
    CHECK(consumed == meta.size);
    free(behind);
    lt_pco_file_decoder_free(reader);
    CHECK(mode == NULL || strcmp(lt_pco_chunk_decoder_mode(decoder), mode) == 0);
    CHECK(delta == NULL || strcmp(lt_pco_chunk_decoder_delta(decoder), delta) == 0);
    size_t starts[PAGES] = {0, 1000, 1001};
    for (int i = PAGES - 1; i >= 0; i--) {
        uint8_t *back = exactly(lens[i] * width);
        OK(lt_pco_chunk_decoder_page(decoder, pages[i].data, pages[i].size, back, lens[i], &consumed,
                                     &error));
        CHECK(consumed == pages[i].size);
        CHECK(memcmp(back, numbers + starts[i] * width, lens[i] * width) == 0);
        free(back);
    }

    /* All at once, and damaged: what comes before is right, what comes behind is as it was. */
    const void *srcs[PAGES];
    size_t sizes[PAGES], each[PAGES] = {0, 0, 0};
    for (int i = 0; i < PAGES; i++) {
        srcs[i] = pages[i].data;
        sizes[i] = pages[i].size;
    }
    uint8_t *all = exactly(N * width);
    OK(lt_pco_chunk_decoder_pages(decoder, srcs, sizes, lens, PAGES, all, N, each, &error));
    CHECK(memcmp(all, numbers, N * width) == 0);
    for (int i = 0; i < PAGES; i++) CHECK(each[i] == sizes[i]);
    OK(lt_pco_chunk_decoder_pages(decoder, srcs, sizes, lens, PAGES, all, N, NULL, &error));
    OK(lt_pco_chunk_decoder_pages(decoder, NULL, NULL, NULL, 0, NULL, 0, NULL, &error));
    memset(all, 0x5a, N * width);
    FAILS(LT_STATUS_INVALID_ARGUMENT,
          lt_pco_chunk_decoder_pages(decoder, srcs, sizes, lens, PAGES, all, N - 1, NULL, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT,
          lt_pco_chunk_decoder_pages(decoder, NULL, sizes, lens, PAGES, all, N, NULL, &error));
    sizes[2] = 0;
    FAILS(LT_STATUS_TRUNCATED,
          lt_pco_chunk_decoder_pages(decoder, srcs, sizes, lens, PAGES, all, N, NULL, &error));
    CHECK(error.values_before == 1001 && memcmp(all, numbers, 1001 * width) == 0);
    for (size_t i = 1001 * width; i < N * width; i++) CHECK(all[i] == 0x5a);
    free(all);

    /* A page cut short: what was decoded before is right, what comes behind is as it was. */
    uint8_t *back = exactly(1000 * width);
    for (size_t size = 0; size < pages[0].size; size += 11) {
        memset(back, 0x5a, 1000 * width);
        uint8_t *cut = copy_of(pages[0].data, size);
        FAILS(LT_STATUS_TRUNCATED,
              lt_pco_chunk_decoder_page(decoder, cut, size, back, 1000, NULL, &error));
        CHECK(error.offset <= size);
        size_t before = error.values_before == LT_NONE ? 0 : (size_t)error.values_before;
        CHECK(before <= 1000 && memcmp(back, numbers, before * width) == 0);
        for (size_t i = before * width; i < 1000 * width; i++) CHECK(back[i] == 0x5a);
        free(cut);
    }
    free(back);
    lt_pco_chunk_decoder_free(decoder);
    for (int i = 0; i < PAGES; i++) lt_buffer_free(&pages[i]);
    lt_buffer_free(&meta);
    lt_buffer_free(&header);
    free(numbers);
}

void test_wrapped(void) {
    for (uint32_t type = LT_TYPE_U32; type <= LT_TYPE_I8; type++) round_trip(type, NULL, NULL);
    round_trip(LT_TYPE_U32, "int-mult@7", "conv1@6");
    round_trip(LT_TYPE_F64, "float-mult@0.01", "consecutive@1");
    round_trip(LT_TYPE_I16, "dict", "lookback");

    lt_error error;
    lt_pco_file_encoder *file = NULL;
    lt_pco_chunk_encoder *chunk = NULL;
    OK(lt_pco_file_encoder_new(NULL, &file, &error));
    uint16_t numbers[4] = {1, 2, 3, 4};
    size_t wrong[2] = {3, 2}, empty[2] = {4, 0};
    FAILS(LT_STATUS_INVALID_ARGUMENT,
          lt_pco_chunk_encoder_new(file, LT_TYPE_U16, numbers, 4, wrong, 2, &chunk, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT,
          lt_pco_chunk_encoder_new(file, LT_TYPE_U16, numbers, 4, empty, 2, &chunk, &error));
    FAILS(LT_STATUS_INVALID_ARGUMENT,
          lt_pco_chunk_encoder_new(file, LT_TYPE_U16, numbers, 4, NULL, 2, &chunk, &error));
    CHECK(chunk == NULL);
    lt_pco_file_encoder_free(file);
    lt_pco_file_decoder *reader = NULL;
    FAILS(LT_STATUS_CORRUPT, lt_pco_file_decoder_new("\x63\x01", 2, NULL, &reader, NULL, &error));
    FAILS(LT_STATUS_TRUNCATED, lt_pco_file_decoder_new("\x04", 1, NULL, &reader, NULL, &error));
    CHECK(reader == NULL && error.offset == 1);
}
