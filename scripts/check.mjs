// Runs the checks, two at a time, and prints the output of failed ones: types, pages, lint, format, dependency rules,
// unused code, generated docs.
import { spawn } from 'node:child_process';
import { performance } from 'node:perf_hooks';
import { getToolFile } from './tool-file.mjs';

const checks = [
  [
    'types',
    getToolFile('typescript', 'tsc'),
    ['--noEmit', '-p', 'tsconfig.json', '--incremental', '--tsBuildInfoFile', '.cache/typecheck.tsbuildinfo'],
  ],
  ['lint', getToolFile('eslint'), ['.', '--max-warnings', '0', '--cache', '--cache-location', '.cache/eslint']],
  [
    'pages',
    getToolFile('svelte-check'),
    ['--tsconfig', './renderer/tsconfig.json', '--fail-on-warnings', '--output', 'human'],
  ],
  [
    'dependency rules',
    getToolFile('dependency-cruiser', 'depcruise'),
    ['--config', '.dependency-cruiser.cjs', 'main', 'services', 'renderer/src', '--output-type', 'err-long'],
  ],
  [
    'format',
    getToolFile('prettier'),
    ['--check', '--cache', '--cache-location', '.cache/prettier', '--log-level', 'warn', '.'],
  ],
  ['unused code', getToolFile('knip'), ['--no-progress']],
  ['configuration docs', 'scripts/configuration-docs.ts', ['--check']],
  ['architecture docs', 'scripts/architecture-docs.ts', ['--check']],
];

let failed = 0;
async function worker() {
  for (let check = checks.shift(); check; check = checks.shift()) {
    const [title, file, args] = check;
    const started = performance.now();
    let output = '';
    const code = await new Promise((resolve) => {
      const child = spawn(process.execPath, [file, ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, FORCE_COLOR: '0' },
      });
      child.stdout.on('data', (chunk) => (output += chunk));
      child.stderr.on('data', (chunk) => (output += chunk));
      child.on('error', (error) => ((output += error.message), resolve(1)));
      child.on('close', resolve);
    });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${title} (${seconds} s)`);
    if (code !== 0) {
      failed += 1;
      console.log(output.trimEnd());
    }
  }
}
await Promise.all([worker(), worker()]);
process.exit(failed === 0 ? 0 : 1);
