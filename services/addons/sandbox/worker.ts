import { createInterface } from 'node:readline';
import { runJob, type Job } from './jobs.ts';

/** One job a line, one answer a line. The process has no other task; its parent ends it when a job takes too long. */
const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
lines.on('line', (line) => {
  let answer: unknown;
  try {
    answer = { answer: runJob(JSON.parse(line) as Job) };
  } catch (error) {
    answer = { failure: error instanceof Error ? error.message : String(error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
});
lines.on('close', () => process.exit());
process.stdout.write('{"ready":true}\n');
