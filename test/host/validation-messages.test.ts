import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import '../../main/host/runtime/plain-issues.ts';

describe('default validation messages', () => {
  it.each<[z.ZodType, unknown, string]>([
    [z.string(), undefined, 'This value is missing.'],
    [z.number(), 'seven', 'Expected a number.'],
    [z.int(), 1.5, 'Expected a whole number.'],
    [z.boolean(), 'perhaps', 'Expected true or false.'],
    [z.array(z.string()), {}, 'Expected a list.'],
    [z.int().min(1000), 5, 'The value must be at least 1,000.'],
    [z.number().gt(0), 0, 'The value must be greater than 0.'],
    [z.int().max(65_535), 70_000, 'The value must be at most 65,535.'],
    [z.number().lt(1), 1, 'The value must be less than 1.'],
    [z.string().min(1), '', 'The value must not be empty.'],
    [z.string().min(8), 'short', 'At least 8 characters are required.'],
    [z.string().max(3), 'long', 'At most 3 characters are allowed.'],
    [z.array(z.string()).min(1), [], 'At least one entry is required.'],
    [z.array(z.string()).max(1), ['a', 'b'], 'At most 1 entry is allowed.'],
    [z.number().multipleOf(5), 7, 'The value must be a multiple of 5.'],
    [z.enum(['low', 'high']), 'middle', 'The value must be one of: low, high.'],
    [z.literal('yes'), 'no', 'The value must be yes.'],
    [z.email(), 'ada', 'Enter an email address.'],
    [z.url(), 'ada', 'Enter an address such as https://example.org.'],
    [z.string().startsWith('/'), 'a', 'The value must start with /.'],
    [z.string().regex(/^[a-z]+$/), 'A1', 'The value isn’t valid.'],
    [z.strictObject({}), { more: 1 }, 'Unknown field: more'],
    [z.union([z.string(), z.number()]), true, 'The value isn’t valid.'],
  ])('are sentences for display: %#', (schema, value, message) => {
    expect(schema.safeParse(value).error?.issues[0]?.message).toBe(message);
  });

  it('prefers messages of a schema', () => {
    expect(z.string().min(3, 'Say more.').safeParse('a').error?.issues[0]?.message).toBe('Say more.');
  });
});
