import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { isClient, isPresent, needs } from '../support/requirements.ts';
import { findLeftOut, isHeavy, readTestFiles } from '../support/test-suites.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'homeport-suites-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

write('test/support/browser.ts', "import { needs } from './requirements.ts';\n\nneeds('chromium');\n");
write('test/support/pages.ts', "export { getBrowser } from './browser.ts';\n");
write('test/pages.test.ts', "import {\n  visit,\n} from './support/pages.ts';\n");
write('test/types.test.ts', "import type { Browser } from './support/browser.ts';\n");
write('test/own.test.ts', "import { needs } from './support/requirements.ts';\nneeds('swaks', 'POSIX shell');\n");
write('test/rules.test.ts', "import { it } from 'vitest';\n// needs('swaks') in a comment declares nothing.\n");
write('test/e2e/start.test.ts', "import { it } from 'vitest';\n");

describe('test suites', () => {
  const files = readTestFiles(folder);

  it('collects requirements of a file and of the modules that it imports', () => {
    expect(Object.fromEntries(files.map(({ path, needs: names }) => [path, names]))).toEqual({
      'test/e2e/start.test.ts': [],
      'test/own.test.ts': ['POSIX shell', 'swaks'],
      'test/pages.test.ts': ['chromium'],
      'test/rules.test.ts': [],
      'test/types.test.ts': [],
    });
  });

  it('assigns files with real clients and files of whole programs to the heavy suite', () => {
    expect(files.filter(isHeavy).map(({ path }) => path)).toEqual([
      'test/e2e/start.test.ts',
      'test/own.test.ts',
      'test/pages.test.ts',
    ]);
    expect(isClient('POSIX shell')).toBe(false);
  });

  it('leaves out files with a missing client, but none in CI', () => {
    const missing = [{ path: 'test/missing.test.ts', needs: ['uptime-kuma-api', 'caddy', 'chromium'] }];
    const isComplete = missing[0]?.needs.every(isPresent) ?? false;
    vi.stubEnv('CI', undefined);
    expect(findLeftOut(missing)).toEqual(isComplete ? [] : missing);
    vi.stubEnv('CI', 'true');
    expect(findLeftOut(missing)).toEqual([]);
  });

  it('rejects an unknown requirement', () => {
    expect(() => isPresent('swakz')).toThrow('Unknown requirement: swakz');
    expect(() => needs('swakz' as 'swaks')).toThrow('Unknown requirement: swakz');
  });
});

/** Returns the pattern of calls that start a program. */
function call(program: string): RegExp {
  return new RegExp(`(?:spawn|exec|execFile|run)(?:Sync)?\\(\\s*'${program}'`);
}

describe('requirements of the test files', () => {
  const files = readTestFiles();
  /** Calls that start a client, with its requirement. */
  const started: readonly (readonly [string, RegExp])[] = [
    ...['swaks', 'msmtp', 'curl', 'openssl', 'python3', 'ffmpeg'].map((name) => [name, call(name)] as const),
    ['ffmpeg', call('ffprobe')],
    ['ssh client', call('ssh-keygen')],
    ['git-lfs', /git\(\['lfs', 'install'/],
    ['process tools', call('pgrep')],
    ...['promtool', 'prometheus'].map((name) => [name, new RegExp(`toolPath\\('${name}'\\)`)] as const),
  ];

  it('are names of known requirements', () => {
    expect(() => files.flatMap(({ needs: names }) => names).map(isPresent)).not.toThrow();
  });

  it('includes the programs that a file starts', () => {
    const undeclared = files.flatMap(({ path, needs: names }) => {
      const source = readFileSync(join(root, path), 'utf8');
      return started
        .filter(([name, pattern]) => pattern.test(source) && !names.includes(name))
        .filter(([name]) => !new RegExp(`lacksProgram\\('?${name}\\w*'?\\)`).test(source))
        .map(([name]) => `${path}: ${name}`);
    });
    expect(undeclared).toEqual([]);
  });
});
