// Runs the checks, two at a time and the longest first, and prints the output of failed ones: lint, types, format, pages,
// unused code, dependency rules, generated docs.
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { root, run } from './commands.mjs';
import { getToolFile } from './tool-file.mjs';

/** Options of ESLint with a cache for each part of the tree. */
const lint = (part, ...options) => [...options, '--max-warnings', '0', '--cache', '--cache-location', `.cache/${part}`];

const checks = [
  // The pages are a TypeScript program of their own, which a second process loads meanwhile.
  ['lint', getToolFile('eslint'), lint('eslint', '.', '--ignore-pattern', 'renderer/**')],
  ['lint of the pages', getToolFile('eslint'), lint('eslint-pages', 'renderer')],
  // The native compiler; the linter and svelte-check need the interface of the one in JavaScript.
  ['types', getToolFile('typescript-native', 'tsc'), ['-b', 'tsconfig.build.json']],
  [
    'format',
    getToolFile('prettier'),
    ['--check', '--cache', '--cache-location', '.cache/prettier', '--log-level', 'warn', '.'],
  ],
  [
    'pages',
    getToolFile('svelte-check'),
    ['--tsconfig', './renderer/tsconfig.json', '--fail-on-warnings', '--output', 'human'],
  ],
  ['unused code', getToolFile('knip'), ['--no-progress']],
  [
    'dependency rules',
    getToolFile('dependency-cruiser', 'depcruise'),
    ['--config', '.dependency-cruiser.cjs', 'main', 'services', 'renderer/src', '--output-type', 'err-long'],
  ],
  ['messages', 'scripts/check-messages.ts', []],
  ['configuration docs', 'scripts/configuration-docs.ts', ['--check']],
  ['architecture docs', 'scripts/architecture-docs.ts', ['--check']],
];

/** The checks allocate much and briefly: a larger young generation saves a tenth of their time. */
const env = {
  FORCE_COLOR: '0',
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --max-semi-space-size=64`,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(root, '.cache', 'compile'),
};

let failed = 0;
async function worker() {
  for (let check = checks.shift(); check; check = checks.shift()) {
    const [title, file, args] = check;
    const started = performance.now();
    const { status, stdout, stderr } = await run(process.execPath, [file, ...args], { quiet: true, env });
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
