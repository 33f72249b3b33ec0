// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "sim/io/h5_document.hpp"

namespace nudge {

/// Columns of one group of a file, a row for each item of a list, which must outlive this object.
template <class Item>
class ItemColumns {
 public:
  /// `row`: label of the dimension.
  ItemColumns(H5Document& document, const std::vector<Item>& items, std::string group, std::string row)
      : document_(document), items_(items), group_(std::move(group)), row_(std::move(row)) {}

  /// Writes get(item) of all items as GROUP/name; `get` may be a member.
  template <class Get>
  void add(const std::string& name, const std::string& description, Get get, const std::string& unit = "1") {
    std::vector<std::decay_t<std::invoke_result_t<Get, const Item&>>> values;
    for (const Item& item : items_) values.push_back(std::invoke(get, item));
    document_.column(group_ + "/" + name, std::move(values), {unit, description, {row_}});
  }

 private:
  H5Document& document_;
  const std::vector<Item>& items_;
  std::string group_, row_;
};

}  // namespace nudge
