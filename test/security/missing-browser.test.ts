import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const module = new URL('../support/browser.ts', import.meta.url).href;

// Without CI, the fast suite leaves the file out before it is loaded; see test/scripts/test-suites.test.ts.
it('fails a test of pages in a browser where Chromium is missing', async () => {
  const env = { ...process.env, CI: 'true', CHROMIUM: '/nonexistent/chromium' };
  const args = ['--input-type=module', '--eval', `await import('${module}')`];
  await expect(run(process.execPath, args, { env })).rejects.toMatchObject({
    stderr: expect.stringContaining('missing: chromium') as string,
  });
});
