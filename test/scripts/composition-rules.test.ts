import { Linter } from 'eslint';
import { describe, expect, it } from 'vitest';
import { parser, plugin } from 'typescript-eslint';

type CreateRules = (roots: readonly string[], factories: readonly string[]) => Linter.Config[];

const { compositionRules } = (await import(new URL('../../eslint.language.js', import.meta.url).href)) as {
  readonly compositionRules: CreateRules;
};
const language = {
  files: ['**/*.ts'],
  languageOptions: { parser },
  plugins: { '@typescript-eslint': plugin },
} as unknown as Linter.Config;
const rules = [language, ...compositionRules(['services/*/index.ts'], ['services/*/lifecycle.ts'])];

/** Returns the rules that a file breaks. */
function lint(code: string, filename = 'services/push/index.ts'): readonly (string | null)[] {
  return new Linter().verify(code, rules, { filename }).map(({ ruleId }) => ruleId);
}

/** Returns a function `create` with a number of lines. */
function buildCreate(lines: number): string {
  return ['function create() {', ...Array.from({ length: lines - 2 }, () => '  build();'), '}'].join('\n');
}

describe('rules of composition', () => {
  it('refuses a closure that uses a constant declared later', () => {
    const code = 'function create() { const keys = open(() => socket.send()); const socket = connect(keys); }';
    expect(lint(code)).toEqual(['@typescript-eslint/no-use-before-define']);
    expect(lint(code, 'services/push/lifecycle.ts')).toEqual(['@typescript-eslint/no-use-before-define']);
  });

  it('allows functions and types that are declared later', () => {
    expect(lint('function create(): Parts { return build(); }\nfunction build() {}\ninterface Parts {}')).toEqual([]);
  });

  it('refuses more than 80 lines in one function', () => {
    expect(lint(buildCreate(81))).toEqual(['max-lines-per-function']);
    expect(lint(buildCreate(80))).toEqual([]);
  });

  it('refuses classes in the file with create, whose fields would hide the order', () => {
    const code = 'class PushService { constructor() { this.keys = open(() => this.socket.send()); } }';
    expect(lint(code)).toEqual(['no-restricted-syntax']);
    expect(lint(code, 'services/push/lifecycle.ts')).toEqual([]);
  });

  it('refuses control flow by sentences in these files as well', () => {
    expect(lint('if (/full/.test(error.message)) retry();')).toEqual(['no-restricted-syntax']);
  });
});
