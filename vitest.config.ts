import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Workers and the hosts that they start inherit this, so that Node compiles each source once.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('.cache/compile', import.meta.url));

/** Tests with long waits or many repetitions: `npm run test:soak`. */
const soaks = 'test/**/*.soak.test.ts';
/** Slow security tests: `npm run test:security`, which runs all of `test/security`. */
const slowSecurity = 'test/security/**/*.security.test.ts';
/** Tests that replace modules and therefore cannot share them. */
const isolated = ['test/services/downloads/internal-redirects.test.ts'];
/** Tests that start many programs; they are distributed to both workers first. */
const heavy = ['test/{desktop,e2e,renderer}/**/*.test.ts', 'test/services/downloads/**/*.test.ts'];

export default defineConfig({
  test: {
    // CI has two cores; more workers would only cause timeouts of real clients.
    maxWorkers: 2,
    pool: 'forks',
    reporters: process.env['CI'] ? ['default', ['json', { outputFile: '.cache/test-results.json' }]] : ['default'],
    // See test/README.md for what files of a project share.
    projects: [
      { extends: true, test: { name: 'heavy', include: heavy, exclude: [soaks, slowSecurity, ...isolated] } },
      {
        extends: true,
        test: { name: 'parts', include: ['test/**/*.test.ts'], exclude: [soaks, slowSecurity, ...heavy, ...isolated] },
      },
      {
        extends: true,
        test: { name: 'alone', include: isolated, isolate: true, experimental: { viteModuleRunner: true } },
      },
      { extends: true, test: { name: 'soak', include: [soaks] } },
      { extends: true, test: { name: 'security', include: ['test/security/**/*.test.ts'] } },
    ],
    isolate: false,
    // Node loads the sources itself, as in the app.
    experimental: { viteModuleRunner: false },
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/worker-setup.ts'],
    // Limits detect hangs only; benchmarks measure speed.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 120_000 } },
    // Retries only a browser step that Chromium never ends, see test/support/browser-timeouts.ts.
    retry: { count: 2, condition: /^Chromium hangs:/ },
  },
});
