// The closing line of .ci/run, from vitest's JSON reports. A run that failed before or beside its tests never closes with zero failures.
import { existsSync, readFileSync } from 'node:fs';

const status = Number(process.argv[2] ?? 1);
const reports = ['.cache/test-results.json', '.cache/soak-results.json'].map((file) =>
  existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined,
);
const sum = (count) => reports.reduce((total, report) => total + (report?.[count] ?? 0), 0);
const whole = status === 0 && reports.every((report) => report !== undefined);
const failed = Math.max(sum('numFailedTests'), whole ? 0 : 1);
console.log(`${sum('numPassedTests')} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
