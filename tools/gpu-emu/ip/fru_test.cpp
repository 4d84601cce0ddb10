// SPDX-License-Identifier: GPL-2.0
// Purpose: tests of the FRU image, taken apart as amdgpu_fru_get_product_info() does.
// Thread: the test's.
// Does not model: nothing.
#include "gpu-emu/ip/fru.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace gpuemu {
namespace {

uint8_t byte_at(const std::vector<std::byte>& image, std::size_t index) {
    return std::to_integer<uint8_t>(image.at(index));
}

uint8_t sum(const std::vector<std::byte>& image, std::size_t first, std::size_t length) {
    uint8_t total = 0;
    for (std::size_t index = first; index < first + length; ++index) {
        total += byte_at(image, index);
    }
    return total;
}

/// The text of the field at `cursor`, which goes on behind it.
std::string take_field(const std::vector<std::byte>& image, std::size_t& cursor) {
    const std::size_t length = byte_at(image, cursor) & 0x3fu;
    std::string text;
    for (std::size_t index = 0; index < length; ++index) {
        text += static_cast<char>(byte_at(image, cursor + 1 + index));
    }
    cursor += 1 + length;
    return text;
}

TEST(Fru, ProductInfoIsReadAsTheDriverReadsIt) {
    const ProductInfo product{.manufacturer = "Maker",
                              .name = "A product",
                              .part_number = "102-D65301-00",
                              .version = "",
                              .serial = "692244000001",
                              .asset_tag = "tag",
                              .file_id = "file"};
    const std::vector<std::byte> image = build_fru_image(product);
    EXPECT_EQ(byte_at(image, 0), 1);
    EXPECT_EQ(sum(image, 0, 8), 0);
    const std::size_t area = byte_at(image, 4) * 8u;
    ASSERT_NE(area, 0u);
    EXPECT_EQ(byte_at(image, area), 1);
    const std::size_t length = byte_at(image, area + 1) * 8u;
    ASSERT_EQ(image.size(), area + length);
    EXPECT_EQ(sum(image, area, length), 0);

    std::size_t cursor = area + 3;
    EXPECT_EQ(take_field(image, cursor), product.manufacturer);
    EXPECT_EQ(take_field(image, cursor), product.name);
    EXPECT_EQ(take_field(image, cursor), product.part_number);
    EXPECT_EQ(take_field(image, cursor), product.version);
    EXPECT_EQ(take_field(image, cursor), product.serial);
    EXPECT_EQ(take_field(image, cursor), product.asset_tag);
    EXPECT_EQ(take_field(image, cursor), product.file_id);
    EXPECT_EQ(byte_at(image, cursor), 0xc1);
}

TEST(Fru, EveryLengthOfTheAreaEndsWithItsChecksum) {
    for (std::size_t length = 0; length <= 16; ++length) {
        ProductInfo product;
        product.name.assign(length, 'n');
        const std::vector<std::byte> image = build_fru_image(product);
        EXPECT_EQ(image.size() % 8, 0u) << length;
        EXPECT_EQ(sum(image, 8, image.size() - 8), 0) << length;
    }
}

TEST(Fru, AFieldThatDoesNotFitItsLengthIsRefused) {
    ProductInfo product;
    product.serial.assign(63, 's');
    EXPECT_NO_THROW(build_fru_image(product));
    product.serial += 's';
    EXPECT_THROW(build_fru_image(product), std::length_error);
}

TEST(Fru, ProfilesFitTheBuffersOfTheDriver) {
    for (const Profile* profile : all_profiles()) {  // struct amdgpu_fru_info, without the NUL
        EXPECT_LT(profile->product.manufacturer.size(), 32u) << profile->name;
        EXPECT_LT(profile->product.name.size(), 64u) << profile->name;
        EXPECT_LT(profile->product.part_number.size(), 20u) << profile->name;
        EXPECT_LT(profile->product.serial.size(), 20u) << profile->name;
        EXPECT_LT(profile->product.file_id.size(), 50u) << profile->name;
        EXPECT_FALSE(profile->product.serial.empty()) << profile->name;
    }
}

}  // namespace
}  // namespace gpuemu
