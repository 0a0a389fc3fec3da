import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const module = new URL('../support/browser.ts', import.meta.url).href;

describe('a test of pages in a browser', () => {
  it.each([
    ['runs, and fails, where CI is set', { CI: 'true' }, 'run'],
    ['is skipped on other computers when CI is not set', {}, 'skipped'],
  ])('is decided by CI: %s and Chromium is missing', async (_when, variables, expected) => {
    const script = `const { noBrowser } = await import('${module}'); console.log(noBrowser === undefined ? 'run' : 'skipped')`;
    const { CI: _ci, ...inherited } = process.env;
    const env = { ...inherited, ...variables, CHROMIUM: '/nonexistent/chromium' };
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { env });
    expect(stdout.trim()).toBe(expected);
  });
});
