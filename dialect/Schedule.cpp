//===- Schedule.cpp - text form of a schedule ----------------------------------===//
//
// One parser and one printer for all keys, driven by their records (include/mirage/schedule.h). A schedule is
// `<key = value, ...>`; an item of a list is a word, and in parentheses the keys behind it, by name or by place:
//
//   <warps = 16, split = reduction, roles = [producer(1, 40), consumer(4)], loads = [tensor(stages = 4), register]>
//
//===----------------------------------------------------------------------------===//

#include "DialectClasses.h"
#include "mirage-c/Kernel.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::ArrayRef;
using llvm::StringRef;
using mirage::kernel::ScheduleAttr;

using Numbers = int32_t[MIRAGE_SCHEDULE_NUMBERS];

bool operator==(const MirageSchedule &a, const MirageSchedule &b) {
  Numbers left, right;
  return ArrayRef(left, mirage_schedule_numbers(&a, left)) == ArrayRef(right, mirage_schedule_numbers(&b, right));
}

llvm::hash_code hash_value(const MirageSchedule &schedule) {
  Numbers numbers;
  return llvm::hash_combine_range(numbers, numbers + mirage_schedule_numbers(&schedule, numbers));
}

namespace {

ArrayRef<MirageKey> keysOf(const MirageRecord &record) { return {record.keys, record.num_keys}; }

//===----------------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------------===//

ParseResult parseItem(AsmParser &parser, const MirageRecord &record, void *out);

template <typename Names> std::string listed(Names &&names) {
  std::string text;
  for (const auto &name : names)
    text += (text.empty() ? "" : ", ") + std::string(name.name);
  return text;
}

ParseResult parseWord(AsmParser &parser, const MirageRecord &record, const MirageKey &key, void *out) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef text;
  if (parser.parseKeyword(&text))
    return failure();
  ArrayRef<MirageWord> words(key.words, key.most + 1);
  const MirageWord *word = llvm::find_if(words, [&](const MirageWord &w) { return text == w.name; });
  if (word != words.end())
    return mirage_key_set(&key, out, int32_t(word - words.begin())), success();
  if (const char *remedy = mirage_schedule_gone(text.data(), text.size()))
    return parser.emitError(loc) << record.name << ": " << key.name << " '" << text << "' is no more: " << remedy;
  return parser.emitError(loc) << record.name << ": " << key.name << " is one of " << listed(words) << "; got '" << text
                               << "'";
}

ParseResult parseFlag(AsmParser &parser, const MirageRecord &record, const MirageKey &key, void *out) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef text;
  if (parser.parseKeyword(&text))
    return failure();
  if (text != "true" && text != "false")
    return parser.emitError(loc) << record.name << ": " << key.name << " is true or false; got '" << text << "'";
  return mirage_key_set(&key, out, text == "true"), success();
}

ParseResult parseList(AsmParser &parser, const MirageRecord &record, const MirageKey &key, void *out) {
  SMLoc loc = parser.getCurrentLocation();
  uint32_t count = 0;
  MirageSchedule spare; // what is too much is read, and counted
  char *items = static_cast<char *>(out) + key.offset;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        bool fits = count < uint32_t(key.most);
        return parseItem(parser, *key.items, fits ? items + count++ * key.items->size : (count++, (char *)&spare));
      }))
    return failure();
  if (count > uint32_t(key.most))
    return parser.emitError(loc) << record.name << ": has " << count << " " << key.name << ", at most " << key.most
                                 << " are supported";
  memcpy(static_cast<char *>(out) + key.count, &count, sizeof count);
  return success();
}

ParseResult parseValue(AsmParser &parser, const MirageRecord &record, const MirageKey &key, void *out) {
  int32_t number;
  switch (key.form) {
  case MIRAGE_FORM_WORD:
    return parseWord(parser, record, key, out);
  case MIRAGE_FORM_FLAG:
    return parseFlag(parser, record, key, out);
  case MIRAGE_FORM_LIST:
    return parseList(parser, record, key, out);
  case MIRAGE_FORM_INT:
    break;
  }
  if (parser.parseInteger(number))
    return failure();
  return mirage_key_set(&key, out, number), success();
}

/// `key = value, ...`, in any order.
ParseResult parseNamed(AsmParser &parser, const MirageRecord &record, ArrayRef<MirageKey> keys,
                       AsmParser::Delimiter delimiter, void *out) {
  uint64_t seen = 0;
  return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    const MirageKey *key = llvm::find_if(keys, [&](const MirageKey &k) { return name == k.name; });
    const char *remedy = mirage_schedule_gone(name.data(), name.size());
    if (key == keys.end() && remedy)
      return parser.emitError(loc) << record.name << ": key '" << name << "' is no more: " << remedy;
    if (key == keys.end())
      return parser.emitError(loc) << record.name << ": has no key '" << name << "'; it has " << listed(keys);
    if (seen >> (key - keys.begin()) & 1)
      return parser.emitError(loc) << record.name << ": '" << name << "' is given twice";
    seen |= uint64_t(1) << (key - keys.begin());
    return failure(parser.parseEqual() || parseValue(parser, record, *key, out));
  });
}

/// `value, ...`, as many as are given.
ParseResult parseByPlace(AsmParser &parser, const MirageRecord &record, ArrayRef<MirageKey> keys, void *out) {
  SMLoc loc = parser.getCurrentLocation();
  size_t count = 0;
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
    if (count == keys.size())
      return parser.emitError(loc) << record.name << ": takes " << keys.size() << " numbers at most";
    return parseValue(parser, record, keys[count++], out);
  });
}

ParseResult parseItem(AsmParser &parser, const MirageRecord &record, void *out) {
  ArrayRef<MirageKey> keys = keysOf(record);
  memset(out, 0, record.size);
  if (parseWord(parser, record, keys.front(), out))
    return failure();
  return record.by_place ? parseByPlace(parser, record, keys.drop_front(), out)
                         : parseNamed(parser, record, keys.drop_front(), AsmParser::Delimiter::OptionalParen, out);
}

//===----------------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------------===//

void printItem(llvm::raw_ostream &stream, const MirageRecord &record, const void *values);

void printValue(llvm::raw_ostream &stream, const MirageKey &key, const void *values) {
  uint32_t count;
  switch (key.form) {
  case MIRAGE_FORM_INT:
    stream << mirage_key_get(&key, values);
    return;
  case MIRAGE_FORM_FLAG:
    stream << (mirage_key_get(&key, values) ? "true" : "false");
    return;
  case MIRAGE_FORM_WORD:
    stream << mirage_key_word(&key, values);
    return;
  case MIRAGE_FORM_LIST:
    const char *items = static_cast<const char *>(mirage_key_items(&key, values, &count));
    stream << '[';
    llvm::interleaveComma(llvm::seq(count), stream,
                          [&](uint32_t i) { printItem(stream, *key.items, items + i * key.items->size); });
    stream << ']';
  }
}

bool isDefault(const MirageKey &key, const void *values) {
  uint32_t count;
  if (key.form != MIRAGE_FORM_LIST)
    return mirage_key_get(&key, values) == 0;
  mirage_key_items(&key, values, &count);
  return count == 0;
}

/// What is not its default; by place, up to the last of those.
void printKeys(llvm::raw_ostream &stream, ArrayRef<MirageKey> keys, bool byPlace, const void *values) {
  llvm::SmallVector<const MirageKey *> shown;
  while (byPlace && keys.size() > 1 && isDefault(keys.back(), values))
    keys = keys.drop_back();
  for (const MirageKey &key : keys)
    if (byPlace || !isDefault(key, values))
      shown.push_back(&key);
  llvm::interleaveComma(shown, stream, [&](const MirageKey *key) {
    if (!byPlace)
      stream << key->name << " = ";
    printValue(stream, *key, values);
  });
}

void printItem(llvm::raw_ostream &stream, const MirageRecord &record, const void *values) {
  ArrayRef<MirageKey> keys = keysOf(record), rest = keys.drop_front();
  printValue(stream, keys.front(), values);
  if (!record.by_place && llvm::all_of(rest, [&](const MirageKey &key) { return isDefault(key, values); }))
    return;
  stream << '(';
  printKeys(stream, rest, record.by_place, values);
  stream << ')';
}

} // namespace

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  MirageSchedule schedule = {};
  const MirageRecord &record = *mirage_schedule_record();
  if (parseNamed(parser, record, keysOf(record), AsmParser::Delimiter::LessGreater, &schedule))
    return {};
  return unwrap(mirageKernelScheduleAttrGet(wrap(parser.getContext()), &schedule));
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printKeys(printer.getStream(), keysOf(*mirage_schedule_record()), /*byPlace=*/false, &getValue());
  printer << '>';
}
