import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LeftOutReporter } from './test/support/left-out-reporter.ts';
import { findLeftOut, isHeavy, readTestFiles } from './test/support/test-suites.ts';

// Workers and the hosts that they start inherit this, so that Node compiles each source once.
process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('.cache/compile', import.meta.url));

/** Tests with long waits or many repetitions: `npm run test:soak`. */
const soaks = 'test/**/*.soak.test.ts';
/** Faults of several hosts as processes: `npm run test:cluster`. */
const cluster = 'test/cluster/**/*.test.ts';
/** Slow security tests: `npm run test:security`, which runs all of `test/security`. */
const slowSecurity = 'test/security/**/*.security.test.ts';
/** Tests that replace modules and therefore cannot share them. */
const isolated = ['test/services/downloads/internal-redirects.test.ts'];
const files = readTestFiles();
/** Files that need a program which this computer does not have; none with `CI` set. */
const leftOut = findLeftOut(files);
const runnable = files.filter((file) => !leftOut.includes(file));
const leftOutPaths = leftOut.map(({ path }) => path);
/** Real clients, browsers and whole programs, as the files declare; they are distributed to both workers first. */
const heavy = runnable.filter(isHeavy).map(({ path }) => path);
/** Longer versions of daily tests, which have projects of their own. */
const longer = [soaks, cluster, slowSecurity, ...isolated, ...leftOutPaths];

/** Report of `.ci/run`. */
const json: ['json', { outputFile: string }] = ['json', { outputFile: '.cache/test-results.json' }];

export default defineConfig({
  test: {
    // CI has two cores; more workers would only cause timeouts of real clients.
    maxWorkers: 2,
    pool: 'forks',
    reporters: ['default', new LeftOutReporter(leftOut, heavy.length), ...(process.env['CI'] ? [json] : [])],
    // See test/README.md for what files of a project share.
    projects: [
      { extends: true, test: { name: 'heavy', include: heavy, exclude: longer } },
      {
        extends: true,
        test: { name: 'parts', include: ['test/**/*.test.ts'], exclude: [...longer, ...heavy] },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: isolated,
          exclude: leftOutPaths,
          isolate: true,
          experimental: { viteModuleRunner: true },
        },
      },
      { extends: true, test: { name: 'cluster', include: [cluster], exclude: leftOutPaths } },
      { extends: true, test: { name: 'soak', include: [soaks], exclude: leftOutPaths } },
      { extends: true, test: { name: 'security', include: ['test/security/**/*.test.ts'], exclude: leftOutPaths } },
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
