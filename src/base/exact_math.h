// exp, log and pow that are the same to the bit on every machine: additions, multiplications and
// divisions alone, none of them fused. The C library's differ in the last place by version and by
// processor, which is enough to make one simulation another. Off by less than 1e-15 of the result
// (pow: by |y log x| times that). Some 15 ns a call. Pure functions.
#pragma once

namespace nvcache {

// x from -700 to 700: beyond, the result is 0 or the largest number of that range.
double exact_exp(double x);
// x > 0, a normal number.
double exact_log(double x);
// x > 0.
double exact_pow(double x, double y);

}  // namespace nvcache
