// SPDX-License-Identifier: GPL-2.0
// Thread: values.
#include "gpu-emu/ip/fru.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>

namespace gpuemu {
namespace {

constexpr std::size_t block_bytes = 8;  // areas begin and end at multiples of it
constexpr std::size_t max_field_bytes = 0x3f;
constexpr std::size_t max_area_blocks = 0xff;

constexpr uint8_t format_version = 1;
constexpr uint8_t language_english = 25;
constexpr uint8_t type_8_bit_ascii = 0xc0;  // the length of the field is in the other bits
constexpr uint8_t end_of_fields = 0xc1;

/// The byte that makes the sum of all bytes zero.
uint8_t checksum(std::span<const uint8_t> bytes) {
    return static_cast<uint8_t>(-std::accumulate(bytes.begin(), bytes.end(), 0u));
}

std::vector<uint8_t> product_info_area(const ProductInfo& product) {
    std::vector<uint8_t> area = {format_version, 0, language_english};
    for (const std::string* field :
         {&product.manufacturer, &product.name, &product.part_number, &product.version,
          &product.serial, &product.asset_tag, &product.file_id}) {
        if (field->size() > max_field_bytes) {
            throw std::length_error("FRU field is too long: " + *field);
        }
        area.push_back(type_8_bit_ascii | static_cast<uint8_t>(field->size()));
        area.insert(area.end(), field->begin(), field->end());
    }
    area.push_back(end_of_fields);
    const std::size_t blocks = area.size() / block_bytes + 1;  // at least the checksum follows
    if (blocks > max_area_blocks) {
        throw std::length_error("FRU product info area is too long");
    }
    area.resize(blocks * block_bytes);
    area[1] = static_cast<uint8_t>(blocks);
    area.back() = checksum(area);
    return area;
}

}  // namespace

std::vector<std::byte> build_fru_image(const ProductInfo& product) {
    // Version, then where each area begins, in blocks: internal use, chassis, board, product,
    // multi-record. Zero: not there.
    std::vector<uint8_t> image = {format_version, 0, 0, 0, 1, 0, 0};
    image.push_back(checksum(image));
    const std::vector<uint8_t> area = product_info_area(product);
    image.insert(image.end(), area.begin(), area.end());

    std::vector<std::byte> bytes(image.size());
    std::ranges::transform(image, bytes.begin(),
                           [](uint8_t value) { return static_cast<std::byte>(value); });
    return bytes;
}

}  // namespace gpuemu
