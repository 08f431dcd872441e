#include <infer_prep.h>
