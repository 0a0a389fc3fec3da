import type { FromChecker, ToChecker } from './messages.ts';
import { Runner } from './runner.ts';

/** Entry point of the checker process, which `Checker` starts and restarts. */
const runner = new Runner((message: FromChecker) => {
  process.send?.(message);
});
process.on('message', (message) => runner.handleMessage(message as ToChecker));
process.on('disconnect', () => process.exit(0));
