/* Goes through the C ABI; the argument is a .wcodec file that the caller made. */
#include "check.h"

void numbers_of(uint32_t type, void *to, size_t n) {
    uint64_t state = 12345;
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t step = (uint32_t)(state >> 60);
        int32_t value = (int32_t)(i % 90) + (int32_t)step;
        switch (type) {
        case LT_TYPE_U8: ((uint8_t *)to)[i] = (uint8_t)value; break;
        case LT_TYPE_I8: ((int8_t *)to)[i] = (int8_t)(value - 60); break;
        case LT_TYPE_U16: ((uint16_t *)to)[i] = (uint16_t)(value * 300); break;
        case LT_TYPE_I16: ((int16_t *)to)[i] = (int16_t)(value * 300 - 16000); break;
        /* Halves from 1.0 on: the exponent's bits, and a mantissa. */
        case LT_TYPE_F16: ((uint16_t *)to)[i] = (uint16_t)(0x3c00 + value); break;
        case LT_TYPE_U32: ((uint32_t *)to)[i] = (uint32_t)value * 70000u; break;
        case LT_TYPE_I32: ((int32_t *)to)[i] = value * 70000 - 3000000; break;
        case LT_TYPE_F32: ((float *)to)[i] = (float)value * 0.25f; break;
        case LT_TYPE_U64: ((uint64_t *)to)[i] = (uint64_t)value * 7; break;
        case LT_TYPE_I64: ((int64_t *)to)[i] = 1700000000000 - (int64_t)value * 60000; break;
        case LT_TYPE_F64: ((double *)to)[i] = (double)value / 100.0; break;
        default: CHECK(!"a type");
        }
    }
}

int main(int argc, char **argv) {
    CHECK(argc == 2);
    CHECK(lt_abi_version() >> 16 == LT_ABI_VERSION >> 16);
    CHECK(strcmp(lt_version(), "0.") > 0);
    CHECK(strcmp(lt_status_name(LT_STATUS_TRUNCATED), "truncated") == 0);
    CHECK(strcmp(lt_status_name(1000), "unknown") == 0);
    test_pco();
    test_wrapped();
    test_dbp();
    test_wcodec(argv[1]);
    test_base(argv[1]);
    test_requests();
    test_threads(argv[1]);
    test_watch(argv[1]);
    puts("all of C went well");
    return 0;
}
