import { parentPort } from 'node:worker_threads';
import type { ToChecker } from './messages.ts';
import { Runner } from './runner.ts';

const runner = new Runner((message) => parentPort?.postMessage(message));
parentPort?.on('message', (message: ToChecker) => runner.take(message));
