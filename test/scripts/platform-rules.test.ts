import { Linter } from 'eslint';
import { describe, expect, it } from 'vitest';

interface ScriptGlobs {
  readonly files: readonly string[];
  readonly layers: readonly string[];
}
type CreateRules = (files: readonly string[], layers: readonly string[], scripts: ScriptGlobs) => Linter.Config[];

const { platformRules } = (await import(new URL('../../eslint.platform.js', import.meta.url).href)) as {
  readonly platformRules: CreateRules;
};
const rules = platformRules(['main/**/*.ts'], ['main/host/platform/**'], {
  files: ['scripts/**/*.mjs'],
  layers: ['scripts/commands.mjs'],
});

/** Returns the number of findings. */
function lint(code: string, filename = 'main/code.ts'): number {
  const findings = new Linter().verify(code, rules, { filename });
  expect(findings.filter(({ fatal }) => fatal)).toEqual([]);
  return findings.filter(({ ruleId }) => ruleId?.startsWith('platform/')).length;
}

describe('rule against code that depends on the operating system', () => {
  it.each([
    "if (process.platform === 'win32') stop();",
    'const { platform } = process;',
    "import { platform } from 'node:os';",
    "import { platform } from 'node:process';",
    "import { rename } from 'node:fs/promises';",
    "import { existsSync, renameSync } from 'node:fs';",
    'await fs.rename(from, to);',
    'await rm(folder, { recursive: true, force: true });',
    'rmSync(folder, { force: true, recursive: true });',
    'fs.rmSync(folder, { recursive: true });',
    "spawn('taskkill', ['/PID', pid]);",
    "await execFileAsync('netstat', ['-ano']);",
    "execFile('ps', ['-o', 'lstart=']);",
    "await children.start({ name: 'ping', file: 'ping', args });",
    "readFile('/proc/net/tcp');",
    'readFile(`/proc/${pid}/stat`);',
  ])('reports: %s', (code) => {
    expect(lint(code)).toBe(1);
  });

  it.each([
    'const isWindows = currentPlatform;',
    'await removeTree(folder);',
    'await rm(file, { force: true });',
    'await repositories.rename(row, name);',
    "const unit = 'ps';",
    "const type = { name: 'ping', ping: 'ping' };",
    "const text = 'The table is in /proc/mdstat';",
    'const { arch } = process;',
  ])('allows: %s', (code) => {
    expect(lint(code)).toBe(0);
  });

  it('allows everything in the platform folders', () => {
    expect(lint("spawn('taskkill', [process.platform]);", 'main/host/platform/code.ts')).toBe(0);
  });

  it('forbids scripts to read the platform outside of their platform file', () => {
    const code = "rmSync(folder, { recursive: true }); if (process.platform === 'win32') stop();";
    expect(lint(code, 'scripts/pack.mjs')).toBe(1);
    expect(lint(code, 'scripts/commands.mjs')).toBe(0);
  });
});
