import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Two cores: more workers than that only make real clients time out on each other.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // A busy machine takes more than the second that is usual to draw a page.
    expect: { poll: { timeout: 15_000 } },
    pool: 'forks',
    reporters: process.env['CI'] ? ['default', ['json', { outputFile: '.cache/test-results.json' }]] : ['default'],
  },
});
