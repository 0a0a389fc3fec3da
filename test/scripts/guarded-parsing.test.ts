import { Linter } from 'eslint';
import { describe, expect, it } from 'vitest';

type CreateRules = (files: readonly string[], implementations: readonly string[]) => Linter.Config[];

const { guardedParsingRules } = (await import(new URL('../../eslint.parsing.js', import.meta.url).href)) as {
  readonly guardedParsingRules: CreateRules;
};
const rules = guardedParsingRules(['**/*.ts'], ['contracts/*.ts']);

/** Returns the number of findings. */
function lint(code: string, filename = 'code.ts'): number {
  const findings = new Linter().verify(code, rules, { filename });
  expect(findings.filter(({ fatal }) => fatal)).toEqual([]);
  return findings.filter(({ ruleId }) => ruleId === 'parsing/no-copy').length;
}

describe('rule against copies of guarded parsers', () => {
  it.each([
    'try { value = JSON.parse(text); } catch { value = undefined; }',
    'function read(text) { try { return schema.parse(JSON.parse(text)); } catch (error) { throw refuse(error); } }',
    'try { use(decodeURIComponent(part)); } catch { fail(); }',
    'try { part = decodeURI(part); } catch { fail(); }',
    'try { url = new URL(text); } catch { url = undefined; }',
    'function parse(text) { try { return new URL(text); } catch { return undefined; } }',
    "const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);",
    "if (typeof body !== 'object' || body === null || Array.isArray(body)) refuse();",
  ])('reports: %s', (code) => {
    expect(lint(code)).toBe(1);
  });

  it.each([
    'const value = JSON.parse(text);',
    'try { await send(JSON.parse(text)); } finally { close(); }',
    'try { await send(); } catch { report(JSON.parse(text)); }',
    'const part = decodeURIComponent(text);',
    'const url = URL.parse(text);',
    'try { const tokens = await grant(configuration, new URL(current)); use(tokens); } catch { fail(); }',
    'try { const reply = await send(); redirect(new URL(reply)); } catch { fail(); }',
    "if (typeof value === 'object' && value !== null) walk(value);",
  ])('allows: %s', (code) => {
    expect(lint(code)).toBe(0);
  });

  it('allows the implementations', () => {
    expect(lint('try { value = JSON.parse(text); } catch { fail(); }', 'contracts/parse-json.ts')).toBe(0);
  });
});
