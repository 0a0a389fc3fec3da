import { Linter } from 'eslint';
import { describe, expect, it } from 'vitest';

type CreateRules = (files: readonly string[], readers: readonly string[]) => Linter.Config[];

const { sentenceRules } = (await import(new URL('../../eslint.language.js', import.meta.url).href)) as {
  readonly sentenceRules: CreateRules;
};
const rules = sentenceRules(['**/*.ts'], ['readers/*.ts']);

/** Returns the number of findings. */
function lint(code: string, filename = 'code.ts'): number {
  const findings = new Linter().verify(code, rules, { filename });
  return findings.filter(({ ruleId }) => ruleId === 'no-restricted-syntax').length;
}

describe('rule against control flow by sentences', () => {
  it.each([
    'if (/full/.test(error.message)) retry();',
    'const isFull = error.detail.includes(full);',
    "const isFull = text.includes('No space left');",
    "if (hurdle === 'Does not have enough approvals') ask();",
    "switch (title) { case 'job attempt failed, retry scheduled': retry(); }",
    'const format = formats[message];',
    'const format = formats[line.message];',
    'const fullPattern = /no space left/;',
  ])('reports: %s', (code) => {
    expect(lint(code)).toBe(1);
  });

  it.each([
    "if (error.code === 'git.disk_full') retry();",
    "if (prefix === 'P ') read();",
    "const text = error.message.replace(/^Invalid regular expression: /, '');",
    'const [, digits] = /^(\\d+)$/.exec(text) ?? [];',
    'const label = labels[kind];',
  ])('allows: %s', (code) => {
    expect(lint(code)).toBe(0);
  });

  it('allows files that read the texts of others', () => {
    expect(lint('const fullPattern = /no space left/;', 'readers/output.ts')).toBe(0);
  });
});
