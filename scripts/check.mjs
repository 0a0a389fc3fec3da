// Runs the checks, two at a time and the longest first, and prints the output of failed ones: lint, types, format, pages,
// unused code, dependency rules, generated docs.
import { performance } from 'node:perf_hooks';
import { run } from './commands.mjs';

const checks = [
  ['lint', 'eslint', ['.', '--max-warnings', '0', '--cache', '--cache-location', '.cache/eslint']],
  ['types', 'tsc', ['-b', 'tsconfig.build.json']],
  ['format', 'prettier', ['--check', '--cache', '--cache-location', '.cache/prettier', '--log-level', 'warn', '.']],
  ['pages', 'svelte-check', ['--tsconfig', './renderer/tsconfig.json', '--fail-on-warnings', '--output', 'human']],
  ['unused code', 'knip', ['--no-progress']],
  [
    'dependency rules',
    'depcruise',
    ['--config', '.dependency-cruiser.cjs', 'main', 'services', 'renderer/src', '--output-type', 'err-long'],
  ],
  ['configuration docs', 'node', ['scripts/configuration-docs.ts', '--check']],
];

let failed = 0;
async function worker() {
  for (let check = checks.shift(); check; check = checks.shift()) {
    const [title, command, args] = check;
    const started = performance.now();
    const { status, stdout, stderr } = await run(command, args, { quiet: true, env: { FORCE_COLOR: '0' } });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`${status === 0 ? 'ok    ' : 'FAILED'} ${title} (${seconds} s)`);
    if (status !== 0) {
      failed += 1;
      console.log(`${stdout ?? ''}${stderr}`.trimEnd());
    }
  }
}
await Promise.all([worker(), worker()]);
process.exit(failed === 0 ? 0 : 1);
