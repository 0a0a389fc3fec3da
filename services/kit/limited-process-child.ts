import { constants, setPriority } from 'node:os';
import { deserialize, serialize } from 'node:v8';
import { Worker } from 'node:worker_threads';
import type {
  FromLimitedProcess,
  LimitedProcessArguments,
  ToLimitedProcess,
  WatchdogData,
} from './limited-process-messages.ts';
import { getThreadFile } from './limited-thread.ts';

/** Entry point of the child process of `LimitedProcesses`: evaluates the inputs of its parent, and ends with it. */
const parameters = JSON.parse(process.argv[2] ?? '{}') as LimitedProcessArguments;
/** Memory of Node outside of the heap. */
const baseMb = 160;
const maxMessageLength = 500;

try {
  // Services take precedence when the processor is busy.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
} catch {
  // Not permitted in some containers.
}
const deadline = new Int32Array(new SharedArrayBuffer(4));
const workerData: WatchdogData = {
  deadline,
  maxResidentBytes: (parameters.memoryMb + baseMb) * 1024 * 1024,
  parent: process.ppid,
};
const watchdog = new Worker(getThreadFile('limited-process-watchdog', import.meta.url), { workerData, execArgv: [] });
watchdog.unref();

const { run } = (await import(parameters.module)) as { readonly run: (input: unknown) => unknown };
process.on('disconnect', () => process.exit(0));
process.on('message', (message) => void evaluate(message as ToLimitedProcess));
sendToParent({ kind: 'ready' });

async function evaluate({ input }: ToLimitedProcess): Promise<void> {
  // The parent ends the child in time; the watchdog does so when the parent is gone.
  Atomics.store(deadline, 0, Math.ceil((Date.now() + parameters.timeoutMs) / 1000) + 1);
  sendToParent(await buildReply(input));
  Atomics.store(deadline, 0, 0);
}

async function buildReply(input: Uint8Array): Promise<FromLimitedProcess> {
  try {
    const value = serialize(await run(deserialize(input)));
    return value.length > parameters.maxOutputBytes ? { kind: 'too-large' } : { kind: 'answer', value };
  } catch (error) {
    const hasMessage = typeof error === 'object' && error !== null && 'message' in error;
    const message = hasMessage ? String(error.message) : String(error);
    return { kind: 'failed', message: message.slice(0, maxMessageLength) };
  }
}

function sendToParent(message: FromLimitedProcess): void {
  process.send?.(message);
}
