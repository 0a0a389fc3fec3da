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

describe('set-up', () => {
  const resolve = async (command: string, onWindows: boolean): Promise<readonly [string, readonly string[]]> => {
    const program = `import { resolveCommand } from './scripts/commands.mjs';
      console.log(JSON.stringify(resolveCommand('${command}', ['a b'], ${String(onWindows)})))`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
    return JSON.parse(stdout) as [string, string[]];
  };

  it('runs the programs of packages by their files on Windows', async () => {
    const node = join(root, 'node_modules', 'node', 'bin', 'node');
    expect(await resolve('node', true)).toEqual([node, ['a b']]);
    for (const command of ['vite', 'tsc', 'svelte-check']) {
      const [file, [tool = '', ...args]] = await resolve(command, true);
      expect([file, args]).toEqual([node, ['a b']]);
      expect(isNodeProgram(readFileSync(tool, 'utf8')), tool).toBe(true);
    }
    expect(await resolve('npm', true)).toEqual([process.execPath, [expect.stringMatching(/npm-cli\.js$/), 'a b']]);
  });

  it('runs other programs by their names', async () => {
    expect(await resolve('python3', true)).toEqual(['python3', ['a b']]);
    for (const command of ['node', 'vite', 'npm']) expect(await resolve(command, false)).toEqual([command, ['a b']]);
  });

  it('uses no shell, which splits paths at spaces on Windows', () => {
    const scripts = readdirSync(join(root, 'scripts')).filter((name) => /\.(mjs|ts)$/.test(name));
    const withShell = scripts.filter((name) => /\bshell:/.test(readFileSync(join(root, 'scripts', name), 'utf8')));
    expect(withShell).toEqual([]);
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
      'bootstrap.mjs build',
      'npm test',
      'npm run package -- --dir',
      'smoke-packed.mjs',
    ])
      expect(workflow).toContain(step);
  });
});

describe('workflows', () => {
  it('runs the set-up script, which also generates the messages', () => {
    const folder = join(root, '.github', 'workflows');
    const withoutMessages = readdirSync(folder).filter((name) =>
      /npm ci|vite build/.test(readFileSync(join(folder, name), 'utf8')),
    );
    expect(withoutMessages).toEqual([]);
  });
});
