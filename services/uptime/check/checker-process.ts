import type { FromChecker, ToChecker } from './messages.ts';
import { Runner } from './runner.ts';

/** The process that checks: `Checker` starts it and restarts it. */
const runner = new Runner((message: FromChecker) => {
  process.send?.(message);
});
process.on('message', (message) => runner.take(message as ToChecker));
process.on('disconnect', () => process.exit(0));
