#pragma once
#include <gpgme.h>
