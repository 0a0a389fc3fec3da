import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'homeport-positions-'));
const logModule = new URL('../../main/host/log/log.ts', import.meta.url).href;
const source = `interface Unused {
  readonly a: string;
}
export function fail(value: Unused | null): void {
  if (value === null) throw new Error('no value');
}
`;

describe('stack of a logged error', () => {
  let stack: readonly string[];

  // Runs without Vitest, which replaces positions itself.
  beforeAll(async () => {
    writeFileSync(join(root, 'failing.ts'), source);
    const output = { dir: join(root, 'dist', 'host'), format: 'esm', sourcemap: true } as const;
    await build({ input: join(root, 'failing.ts'), platform: 'node', output });
    const program = join(root, 'program.mjs');
    writeFileSync(
      program,
      `import { createLog } from '${logModule}';
import { fail } from '${pathToFileURL(join(output.dir, 'failing.js')).href}';
const log = createLog({ level: 'error', format: 'json', write: (line) => console.log(line) });
try {
  fail(null);
} catch (error) {
  log.error('work failed', { error });
}
`,
    );
    const { stdout } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
    stack = (JSON.parse(stdout) as { error: { stack: string } }).error.stack.split('\n');
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it('names the line of the source file instead of the built one', () => {
    expect(stack[0]).toMatch(/^at fail \(failing\.ts:5:\d+\)$/);
  });

  it('keeps positions in files without a source map', () => {
    expect(stack[1]).toBe(`at ${pathToFileURL(join(root, 'program.mjs')).href}:5:3`);
  });
});
