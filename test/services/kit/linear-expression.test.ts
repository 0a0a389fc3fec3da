import { describe, expect, it } from 'vitest';
import { compileLinearExpression, ExpressionError } from '../../../services/kit/linear-expression.ts';
import { isAllowedRedirect } from '../../../services/data/auth-api/domain/redirects.ts';
import { cpuTime } from '../../support/cpu-time.ts';

const getReason = (source: string): string => {
  try {
    compileLinearExpression(source);
    return '';
  } catch (error) {
    if (error instanceof ExpressionError) return error.reason;
    throw error;
  }
};

describe('expressions in RE2 syntax', () => {
  it.each(['(a+)+$', '(a|a)*$', '(a|aa)+$', '(?:a?){200}a{200}$', '(.*a){20}$'])(
    'searches for %s in time proportional to the text',
    (source) => {
      const startedAt = cpuTime();
      expect(compileLinearExpression(`^${source}`).test(`${'a'.repeat(10_000)}!`)).toBe(false);
      expect(cpuTime() - startedAt).toBeLessThan(5000);
    },
  );

  it.each([
    ['a lookahead', '(?=a)', 'invalid or unsupported Perl syntax'],
    ['a backreference', String.raw`(a)\1`, 'invalid escape sequence'],
    ['an open group', '(', 'missing closing )'],
    ['a nested repetition', '(a{100}){100}', 'invalid repeat count'],
    ['a repetition of repetitions', '((((a{30}){30}){30}){30})', 'expression too large'],
    ['many repetitions', 'a{1000}'.repeat(30), 'expression too large'],
    ['repetitions after a quoted bracket', `${String.raw`\Q[\E`}${'a{1000}'.repeat(30)}]`, 'expression too large'],
    ['repetitions after a class', `[[:alpha:][]${'a{1000}'.repeat(30)}`, 'expression too large'],
    ['repetitions after an escaped bracket', `${String.raw`\[`}${'a{1000}'.repeat(30)}]`, 'expression too large'],
    ['repetitions in an open group', `(${'a{0,1000}'.repeat(30)}`, 'expression too large'],
    ['repetitions of a long group', `(${'ab'.repeat(50)}){999}`, 'expression too large'],
  ])('refuses %s', (_case, source, reason) => {
    expect(getReason(source)).toBe(reason);
  });

  it.each([
    String.raw`\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})`,
    '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}',
    String.raw`(?:(?:25[0-5]|2[0-4]\d|1?\d{1,2})\.){3}(?:25[0-5]|2[0-4]\d|1?\d{1,2})`,
  ])('accepts %s', (source) => {
    expect(getReason(source)).toBe('');
  });

  it('checks a redirect with many stars in bounded time', () => {
    const target = `https://app.example/${'a/'.repeat(4000)}`;
    const startedAt = cpuTime();
    expect(isAllowedRedirect(target, 'https://own.example', [`https://app.example/${'**/'.repeat(8)}x`])).toBe(false);
    expect(isAllowedRedirect(`${target}x`, 'https://own.example', [`https://app.example/${'**/'.repeat(8)}x`])).toBe(
      true,
    );
    expect(cpuTime() - startedAt).toBeLessThan(5000);
  });
});
