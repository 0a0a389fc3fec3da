import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const check = readFileSync(join(root, 'scripts', 'check.mjs'), 'utf8');

const isNodeProgram = (text: string): boolean => /^#!.*\bnode\b/.test(text);

describe('npm run check', () => {
  it('runs every tool by its file, since Windows has only shell scripts for them', async () => {
    const calls = [...check.matchAll(/getToolFile\(([^)]*)\)/g)].map(([, names = '']) => names);
    expect(calls).toHaveLength(7);
    const program = `import { getToolFile } from './scripts/tool-file.mjs'; console.log([${calls
      .map((names) => `getToolFile(${names})`)
      .join()}].join('\\n'))`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
    const files = stdout.trim().split('\n');
    expect(files.filter((file) => !existsSync(file) || !isNodeProgram(readFileSync(file, 'utf8')))).toEqual([]);
    expect(check).toContain('run(process.execPath, [file');
  });
});

describe('.gitattributes', () => {
  /** Returns an attribute that git applies to a file. */
  const getAttribute = async (name: string, file: string): Promise<string> => {
    const { stdout } = await run('git', ['check-attr', name, '--', file], { cwd: root });
    return stdout.trim().split(': ').at(-1) ?? '';
  };

  it('checks out sources with the same line ends on every system', async () => {
    for (const file of ['main/homeport.mjs', 'services/downloads/engine/worker.py', '.ci/run', 'package.json']) {
      expect(await getAttribute('eol', file), file).toBe('lf');
    }
  });

  it('leaves recordings and binary files as they are', async () => {
    const golden = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).find((file) =>
      /[\\/]golden[\\/].*\.json$/.test(file),
    );
    for (const file of [`test/${golden ?? ''}`, 'assets/icon.png', 'test/fixtures/any.eml']) {
      expect(await getAttribute('text', file), file).toBe('unset');
    }
  });
});

describe('desktop workflow', () => {
  it('runs the steps of a release on Windows and macOS', () => {
    const workflow = readFileSync(join(root, '.github', 'workflows', 'desktop.yml'), 'utf8');
    for (const step of [
      'windows-latest',
      'macos-latest',
      'npm ci',
      'vitest run',
      'npm run package -- --dir',
      'smoke-packed.mjs',
    ])
      expect(workflow).toContain(step);
  });
});
