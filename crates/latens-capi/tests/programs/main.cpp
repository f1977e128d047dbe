// The same header from C++: handles in smart pointers, errors as exceptions, vectors as memory.
#include <latens.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace {

#define CHECK(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                  \
            std::exit(1);                                                                         \
        }                                                                                         \
    } while (0)

struct Failed : std::runtime_error {
    lt_status status;
    std::uint64_t offset;
    explicit Failed(const lt_error &error)
        : std::runtime_error(error.message), status(error.status), offset(error.offset) {}
};

template <typename F, typename... Args> void call(F function, Args... args) {
    lt_error error;
    if (function(args..., &error) != LT_STATUS_OK) throw Failed(error);
}

struct Buffer : lt_buffer {
    Buffer() : lt_buffer{nullptr, 0, 0, 1} {}
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;
    ~Buffer() { lt_buffer_free(this); }
};

template <auto close> struct Close {
    template <typename T> void operator()(T *held) const { close(held); }
};
using Reader = std::unique_ptr<lt_wcodec_reader, Close<lt_wcodec_close>>;

template <typename T> constexpr std::uint32_t type_of() {
    if constexpr (std::is_floating_point_v<T>) {
        return sizeof(T) == 4 ? LT_TYPE_F32 : LT_TYPE_F64;
    } else if constexpr (std::is_signed_v<T>) {
        return sizeof(T) == 1   ? LT_TYPE_I8
               : sizeof(T) == 2 ? LT_TYPE_I16
               : sizeof(T) == 4 ? LT_TYPE_I32
                                : LT_TYPE_I64;
    } else {
        return sizeof(T) == 1   ? LT_TYPE_U8
               : sizeof(T) == 2 ? LT_TYPE_U16
               : sizeof(T) == 4 ? LT_TYPE_U32
                                : LT_TYPE_U64;
    }
}

template <typename T> void round_trip(std::size_t n) {
    std::vector<T> numbers(n), back(n);
    for (std::size_t i = 0; i < n; i++) numbers[i] = static_cast<T>(i % 100);
    CHECK(lt_type_size(type_of<T>()) == sizeof(T));
    Buffer file;
    call(lt_pco_compress, type_of<T>(), numbers.data(), n, nullptr, &file);
    std::size_t count = 0;
    bool finished = false;
    call(lt_pco_decompress_into, file.data, file.size, type_of<T>(), nullptr, back.data(), n, &count,
         &finished);
    CHECK(count == n && finished && back == numbers);
    try {
        call(lt_pco_decompress_into, file.data, file.size / 2, type_of<T>(), nullptr, back.data(), n,
             &count, &finished);
        CHECK(!"an error");
    } catch (const Failed &failed) {
        CHECK(failed.status == LT_STATUS_TRUNCATED && failed.offset <= file.size / 2);
        CHECK(std::string(failed.what()).find("truncated") == 0);
    }
}

void checkpoint(const char *path) {
    lt_wcodec_reader *opened = nullptr;
    call(lt_wcodec_open, path, nullptr, nullptr, &opened);
    Reader reader(opened);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < lt_wcodec_tensor_count(reader.get()); i++) {
        threads.emplace_back([&reader, i] {
            lt_wcodec_tensor info;
            call(lt_wcodec_tensor_info, reader.get(), i, &info);
            std::vector<unsigned char> data(info.bytes);
            std::size_t written = 0;
            call(lt_wcodec_decode, reader.get(), i, data.data(), data.size(), &written);
            CHECK(written == data.size());
        });
    }
    for (auto &thread : threads) thread.join();
    call(lt_wcodec_verify, reader.get());
}

} // namespace

int main(int argc, char **argv) {
    CHECK(argc == 2);
    round_trip<std::uint8_t>(1000);
    round_trip<std::int8_t>(1000);
    round_trip<std::uint16_t>(1000);
    round_trip<std::int16_t>(1000);
    round_trip<std::uint32_t>(1000);
    round_trip<std::int32_t>(1000);
    round_trip<std::uint64_t>(1000);
    round_trip<std::int64_t>(1000);
    round_trip<float>(1000);
    round_trip<double>(1000);
    std::vector<std::int64_t> ids(2000), back(2000);
    for (std::size_t i = 0; i < ids.size(); i++) ids[i] = static_cast<std::int64_t>(i * i);
    Buffer stream;
    call(lt_dbp_encode, LT_TYPE_I64, ids.data(), ids.size(), 0, 0, &stream);
    std::size_t count = 0, consumed = 0;
    call(lt_dbp_decode_into, stream.data, stream.size, LT_TYPE_I64, nullptr, back.data(), back.size(),
         &count, &consumed);
    CHECK(count == ids.size() && consumed == stream.size && back == ids);
    checkpoint(argv[1]);
    std::puts("all of C++ went well");
    return 0;
}
