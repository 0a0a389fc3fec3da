// Prints the last line of .ci/run from vitest's JSON report. A run that failed outside of its tests reports a failure, too.
import { existsSync, readFileSync } from 'node:fs';

const status = Number(process.argv[2] ?? 1);
const file = '.cache/test-results.json';
const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
const isComplete = status === 0 && report !== undefined;
const failed = Math.max(report?.numFailedTests ?? 0, isComplete ? 0 : 1);
console.log(`${report?.numPassedTests ?? 0} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
