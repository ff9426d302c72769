#pragma once
#include <ksba.h>
