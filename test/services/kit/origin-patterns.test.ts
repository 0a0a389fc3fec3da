import { describe, expect, it } from 'vitest';
import { compileOriginPatterns } from '../../../services/kit/origin-patterns.ts';

describe('compileOriginPatterns', () => {
  it.each([
    ['https://app.example.org', 'HTTPS://app.example.org', true],
    ['https://app.example.org', 'https://appxexample.org', false],
    ['https://app.example.org', 'https://app.example.org.evil.example', false],
    ['http://localhost:*', 'http://localhost:8080', true],
    ['http://localhost:*', 'http://localhost:8080/path', false],
    ['chrome-extension://*', 'chrome-extension://abcdef', true],
    ['*', 'null', false],
    ['https://*', `https://${'a'.repeat(600)}`, false],
  ])('compares %s with %s', (pattern, origin, matches) => {
    expect(compileOriginPatterns(['https://other.example', pattern])(origin)).toBe(matches);
  });

  it('matches every origin but null with allowsAny', () => {
    const matches = compileOriginPatterns(['*'], { allowsAny: true });
    expect(['https://app.example.org', 'http://localhost:1', 'null'].map(matches)).toEqual([true, true, false]);
  });

  it('matches nothing without patterns', () => {
    expect(compileOriginPatterns([])('https://app.example.org')).toBe(false);
  });
});
