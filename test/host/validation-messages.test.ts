import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import '../../main/host/runtime/plain-issues.ts';

describe('default validation messages', () => {
  it.each<[z.ZodType, unknown, string]>([
    [z.string(), undefined, 'It is missing.'],
    [z.number(), 'seven', 'Expected a number.'],
    [z.int(), 1.5, 'Expected a whole number.'],
    [z.boolean(), 'perhaps', 'Expected true or false.'],
    [z.array(z.string()), {}, 'Expected a list.'],
    [z.int().min(1000), 5, 'It must be 1,000 or more.'],
    [z.number().gt(0), 0, 'It must be more than 0.'],
    [z.int().max(65_535), 70_000, 'It must be 65,535 or less.'],
    [z.number().lt(1), 1, 'It must be less than 1.'],
    [z.string().min(1), '', 'It must not be empty.'],
    [z.string().min(8), 'short', 'It needs 8 characters at least.'],
    [z.string().max(3), 'long', 'It may have 3 characters at most.'],
    [z.array(z.string()).min(1), [], 'It needs one at least.'],
    [z.array(z.string()).max(1), ['a', 'b'], 'It may have 1 at most.'],
    [z.number().multipleOf(5), 7, 'It must be a multiple of 5.'],
    [z.enum(['low', 'high']), 'middle', 'It must be one of: low, high.'],
    [z.literal('yes'), 'no', 'It must be yes.'],
    [z.email(), 'ada', 'It must be an e-mail address.'],
    [z.url(), 'ada', 'It must be an address such as https://example.org.'],
    [z.string().startsWith('/'), 'a', 'It must begin with /.'],
    [z.string().regex(/^[a-z]+$/), 'A1', 'It is not of the expected form.'],
    [z.strictObject({}), { more: 1 }, 'There is no field more.'],
    [z.union([z.string(), z.number()]), true, 'It is not of the expected form.'],
  ])('are sentences for display: %#', (schema, value, message) => {
    expect(schema.safeParse(value).error?.issues[0]?.message).toBe(message);
  });

  it('prefers messages of a schema', () => {
    expect(z.string().min(3, 'Say more.').safeParse('a').error?.issues[0]?.message).toBe('Say more.');
  });
});
