import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Workers take it from here; Node then compiles each source once for all of them, and for the hosts they start.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('.cache/compile', import.meta.url));

/** What waits long, or does the same many times: `npm run test:soak`. */
const soaks = 'test/**/*.soak.test.ts';
/** Slow security tests: `npm run test:security`, which runs all of `test/security`. */
const slowSecurity = 'test/security/**/*.security.test.ts';
/** What replaces modules, and so cannot share them. */
const alone = ['test/services/downloads/led-inside.test.ts'];
/** Whose tests start many programs: they are spread over both workers before all else. */
const heavy = ['test/{desktop,e2e,renderer}/**/*.test.ts', 'test/services/downloads/**/*.test.ts'];

export default defineConfig({
  test: {
    // Two cores: more workers than that only make real clients time out on each other.
    maxWorkers: 2,
    pool: 'forks',
    reporters: process.env['CI'] ? ['default', ['json', { outputFile: '.cache/test-results.json' }]] : ['default'],
    // See test/README.md for what files of a project share.
    projects: [
      { extends: true, test: { name: 'heavy', include: heavy, exclude: [soaks, slowSecurity, ...alone] } },
      {
        extends: true,
        test: { name: 'parts', include: ['test/**/*.test.ts'], exclude: [soaks, slowSecurity, ...heavy, ...alone] },
      },
      {
        extends: true,
        test: { name: 'alone', include: alone, isolate: true, experimental: { viteModuleRunner: true } },
      },
      { extends: true, test: { name: 'soak', include: [soaks] } },
      { extends: true, test: { name: 'security', include: ['test/security/**/*.test.ts'] } },
    ],
    isolate: false,
    // Node runs the sources itself, as it does in the app.
    experimental: { viteModuleRunner: false },
    globalSetup: ['test/support/run.ts'],
    setupFiles: ['test/support/worker.ts'],
    // For what hangs. How fast something is, is measured by the benchmarks, since machines may be busy.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    expect: { poll: { timeout: 120_000 } },
    // A step that Chromium never ends, see test/support/hangs.ts; nothing else is tried twice.
    retry: { count: 2, condition: /^Chromium hangs:/ },
  },
});
