// Traces of records that all have the same size.
#pragma once

#include <memory>

#include "apps/trace/decoder.h"

namespace nvcache {

std::unique_ptr<Decoder> make_oracle_general_decoder();
std::unique_ptr<Decoder> make_u32_decoder();
std::unique_ptr<Decoder> make_u64_decoder();
std::unique_ptr<Decoder> make_u32be_decoder();

}  // namespace nvcache
