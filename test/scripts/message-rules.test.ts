import { Linter } from 'eslint';
import svelte from 'eslint-plugin-svelte';
import { describe, expect, it } from 'vitest';

type CreateRules = (files: readonly string[]) => Linter.Config[];

const { failureTextRules, storedTextRules } = (await import(
  new URL('../../eslint.messages.js', import.meta.url).href
)) as { readonly failureTextRules: CreateRules; readonly storedTextRules: CreateRules };
const files = ['**/*.js', '**/*.svelte'];
const rules: Linter.Config[] = [...svelte.configs.base, ...storedTextRules(files), ...failureTextRules(files)];

/** Returns the number of findings of a rule. */
function lint(code: string, filename = 'code.js', rule = 'texts/no-stored-text'): number {
  const findings = new Linter().verify(code, rules, { filename });
  expect(findings.filter(({ fatal }) => fatal)).toEqual([]);
  return findings.filter(({ ruleId }) => ruleId === rule).length;
}

const namespace = "import * as m from '#messages/frame';";

describe('rule against texts that keep the language in which they were created', () => {
  it.each([
    'const labels = { all: m.all() };',
    'export const title = `${m.all()}: 1`;',
    'const labels = kinds.map((kind) => [kind, m.title({ kind })]);',
    'const label = (() => m.all())();',
    'class Draft { title = m.all(); }',
    'class Draft { static title = m.all(); }',
    'let label = $state(m.all());',
  ])('reports: %s', (code) => {
    expect(lint(`${namespace}\n${code}`)).toBe(1);
  });

  it.each([
    'const labels = { all: m.all };',
    'const labels = { all: () => m.all() };',
    'const labels = { get all() { return m.all(); } };',
    'function format() { return m.all(); }',
    'function list() { return kinds.map((kind) => m.title({ kind })); }',
    'const label = $derived(m.all());',
    'const labels = $derived.by(() => kinds.map((kind) => m.title({ kind })));',
    'class Draft { get title() { return m.all(); } }',
    'class Draft { title = $derived(m.all()); }',
    'class Draft { format = () => m.all(); }',
    'const title = other.all();',
  ])('allows: %s', (code) => {
    expect(lint(`${namespace}\n${code}`)).toBe(0);
  });

  it('reports functions that are imported by name, and modules that are imported by path', () => {
    expect(lint("import { all as label } from '#messages/frame';\nconst title = label();")).toBe(1);
    expect(lint("import * as texts from '../../messages/generated/frame.ts';\nconst title = texts.all();")).toBe(1);
    expect(lint("import { all } from './texts.ts';\nconst title = all();")).toBe(0);
  });

  it('reports constants and default values of a component, whose markup is updated', () => {
    const lintScript = (code: string, markup = '') =>
      lint(`<script>\n${namespace}\n${code}\n</script>\n${markup}`, 'Code.svelte');
    expect(lintScript('const labels = { all: m.all() };')).toBe(1);
    expect(lintScript('const { label = m.all() } = $props();')).toBe(1);
    expect(lintScript('const label = $derived(m.all());')).toBe(0);
    expect(lintScript('', '<p title={m.all()}>{m.all()}</p>{#each m.all() as x}{@const y = m.all()}{/each}')).toBe(0);
  });
});

describe('rule against failures of the server in the language of a request', () => {
  const lintFailure = (code: string): number =>
    lint(`${namespace}\nfunction fail(reason, error) { ${code} }`, 'code.js', 'failures/no-evaluated-failure');

  it.each([
    "throw new Problem('a.full', 507, m.full());",
    "throw new Problem('a.full', 507, m.full({ reason }), { cause: error });",
    "throw new Problem('a.full', 507, reason ? m.full() : m.all);",
    "throw new Problem('a.full', 507, reason ?? m.full());",
    "const detail = m.full({ reason }); throw new Problem('a.full', 500, detail);",
    'throw new Problem(error.code, error.status, m.full({ reason }));',
    'throw new Problem(error.code, error.status, error.detail);',
  ])('reports: %s', (code) => {
    expect(lintFailure(code)).toBe(1);
  });

  it.each([
    "throw new Problem('a.full', 507, m.full);",
    "throw new Problem('a.full', 507, () => m.full({ reason }));",
    "const detail = () => m.full({ reason }); throw new Problem('a.full', 500, detail);",
    "throw new Problem('a.full', 507, reason);",
    "throw new Problem('a.full', 507, 'Too many clients');",
    "throw new Problem('a.wrong', 422, m.wrong({ reason }));",
    'throw new Problem(error.code, error.status, error.text);',
    "throw new Problem('a.full');",
  ])('allows: %s', (code) => {
    expect(lintFailure(code)).toBe(0);
  });
});
