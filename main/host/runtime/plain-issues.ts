import * as m from '#messages/validation';
import { z } from 'zod';
import { formatList, formatNumber } from '../../../messages/format.ts';

const types: Readonly<Record<string, () => string>> = {
  number: m.typeNumber,
  int: m.typeInteger,
  string: m.typeText,
  boolean: m.typeBoolean,
  array: m.typeList,
  object: m.typeFields,
  record: m.typeFields,
};

const formats: Readonly<Record<string, () => string>> = {
  email: m.email,
  url: m.url,
  uuid: m.uuid,
  ipv4: m.ipv4,
  ipv6: m.ipv6,
  date: m.date,
  time: m.time,
  datetime: m.dateTime,
};

/** Default message for an invalid value whose schema defines no message. Never contains the value. */
export function formatIssueMessage(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? m.missing()
        : m.expected({ type: types[issue.expected]?.() ?? issue.expected });
    case 'invalid_value':
      return issue.values.length === 1
        ? m.mustBe({ value: String(issue.values[0]) })
        : m.mustBeOneOf({ values: issue.values.map(String).join(', ') });
    case 'too_small':
      return formatTooSmall(issue.origin, issue.minimum, issue.inclusive !== false);
    case 'too_big':
      return formatTooBig(issue.origin, issue.maximum, issue.inclusive !== false);
    case 'not_multiple_of':
      return m.multipleOf({ value: String(issue.divisor) });
    case 'invalid_format':
      return formatFormat(issue);
    case 'unrecognized_keys':
      return m.unknownFields({ count: issue.keys.length, fields: issue.keys.join(', ') });
    default:
      return m.invalidForm();
  }
}

/** Returns the message for a value that is none of these types. */
export function formatExpected(expected: readonly (() => string)[]): string {
  return m.expected({
    type: formatList(
      expected.map((type) => type()),
      'disjunction',
    ),
  });
}

function formatFormat(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidStringFormat>): string {
  const { format } = issue;
  if (format === 'starts_with') return m.startsWith({ text: String(issue['prefix']) });
  if (format === 'ends_with') return m.endsWith({ text: String(issue['suffix']) });
  if (format === 'includes') return m.includes({ text: String(issue['includes']) });
  return (formats[format] ?? m.invalidForm)();
}

function formatTooSmall(origin: string, minimum: number | bigint, inclusive: boolean): string {
  const count = Number(minimum);
  if (origin === 'string') {
    if (count === 1 && inclusive) return m.empty();
    return inclusive ? m.minLength({ count }) : m.longerThan({ count });
  }
  if (isCollection(origin)) {
    if (count === 1 && inclusive) return m.noEntries();
    return inclusive ? m.minEntries({ count }) : m.moreEntriesThan({ count });
  }
  const limit = formatNumber(count);
  return inclusive ? m.min({ limit }) : m.greaterThan({ limit });
}

function formatTooBig(origin: string, maximum: number | bigint, inclusive: boolean): string {
  const count = Number(maximum);
  if (origin === 'string') return inclusive ? m.maxLength({ count }) : m.shorterThan({ count });
  if (isCollection(origin)) return inclusive ? m.maxEntries({ count }) : m.fewerEntriesThan({ count });
  const limit = formatNumber(count);
  return inclusive ? m.max({ limit }) : m.lessThan({ limit });
}

function isCollection(origin: string): boolean {
  return ['array', 'set', 'map', 'file'].includes(origin);
}

// Default for all validation in this process; messages of a schema take precedence.
z.config({ localeError: formatIssueMessage });
