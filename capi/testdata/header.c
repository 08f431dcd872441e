/* The header alone, as the first of a program. */
#include "../infer_prep.h"
