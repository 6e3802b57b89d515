#pragma once
#include <string>

#include "lanewise/machine/catalogue.hpp"

namespace lanewise {

// The catalogue's parts as Markdown: by kind, their key figures with what each rests on, and which figures nobody has
// published or measured. Throws InputError when a part's file is wrong.
std::string catalogue_page(Catalogue& catalogue);

}  // namespace lanewise
