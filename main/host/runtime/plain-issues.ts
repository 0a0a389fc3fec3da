import { z } from 'zod';

const kinds: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a group of fields',
  record: 'a group of fields',
};

const formats: Readonly<Record<string, string>> = {
  email: 'It must be an e-mail address.',
  url: 'It must be an address such as https://example.org.',
  uuid: 'It must be a UUID.',
  ipv4: 'It must be an IPv4 address.',
  ipv6: 'It must be an IPv6 address.',
  date: 'It must be a day such as 2026-11-26.',
  time: 'It must be a time such as 14:05.',
  datetime: 'It must be a time such as 2026-11-26T14:05:00Z.',
};

/** Default message for an invalid value whose schema defines no message. Never contains the value. */
export function formatIssueMessage(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'It is missing.' : `Expected ${kinds[issue.expected] ?? issue.expected}.`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `It must be ${String(issue.values[0])}.`
        : `It must be one of: ${issue.values.map(String).join(', ')}.`;
    case 'too_small':
      return tooSmall(issue.origin, issue.minimum, issue.inclusive !== false);
    case 'too_big':
      return tooBig(issue.origin, issue.maximum, issue.inclusive !== false);
    case 'not_multiple_of':
      return `It must be a multiple of ${String(issue.divisor)}.`;
    case 'invalid_format':
      return formatIssue(issue);
    case 'unrecognized_keys':
      return `There is no field ${issue.keys.join(', ')}.`;
    default:
      return 'It is not of the expected form.';
  }
}

function formatIssue(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidStringFormat>): string {
  const { format } = issue;
  if (format === 'starts_with') return `It must begin with ${String(issue['prefix'])}.`;
  if (format === 'ends_with') return `It must end with ${String(issue['suffix'])}.`;
  if (format === 'includes') return `It must have ${String(issue['includes'])} in it.`;
  return formats[format] ?? 'It is not of the expected form.';
}

function tooSmall(origin: string, least: number | bigint, inclusive: boolean): string {
  const formatted = least.toLocaleString('en');
  if (isSized(origin)) {
    if (least === 1 && inclusive) return origin === 'string' ? 'It must not be empty.' : 'It needs one at least.';
    return `It needs ${inclusive ? formatted : `more than ${formatted}`}${origin === 'string' ? ' characters' : ''}${inclusive ? ' at least' : ''}.`;
  }
  return inclusive ? `It must be ${formatted} or more.` : `It must be more than ${formatted}.`;
}

function tooBig(origin: string, limit: number | bigint, inclusive: boolean): string {
  const formatted = limit.toLocaleString('en');
  if (isSized(origin))
    return `It may have ${inclusive ? formatted : `fewer than ${formatted}`}${origin === 'string' ? ' characters' : ''}${inclusive ? ' at most' : ''}.`;
  return inclusive ? `It must be ${formatted} or less.` : `It must be less than ${formatted}.`;
}

function isSized(origin: string): boolean {
  return ['string', 'array', 'set', 'map', 'file'].includes(origin);
}

// Default for all validation in this process; messages of a schema take precedence.
z.config({ localeError: formatIssueMessage });
