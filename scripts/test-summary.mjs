// Prints the slowest test files and, as the last line of .ci/run, the number of tests, from vitest's JSON report. A run that
// failed outside of its tests reports a failure, too.
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';

const shownFiles = 10;
const status = Number(process.argv[2] ?? 1);
const file = '.cache/test-results.json';
const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;

const durations = (report?.testResults ?? [])
  .map(({ name, startTime, endTime }) => ({ path: relative('.', name), seconds: (endTime - startTime) / 1000 }))
  .sort((a, b) => b.seconds - a.seconds)
  .slice(0, shownFiles);
if (durations.length > 0) console.log('Slowest test files:');
for (const { path, seconds } of durations) console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${path}`);

const isComplete = status === 0 && report !== undefined;
const failed = Math.max(report?.numFailedTests ?? 0, isComplete ? 0 : 1);
console.log(`${report?.numPassedTests ?? 0} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
